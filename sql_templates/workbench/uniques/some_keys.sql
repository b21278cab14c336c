-- The keys of some row patterns, which stand for one row each.
-- Parameters: :patterns  their numbers
-- Result: pattern, key_text
SELECT pattern, key_text FROM keys WHERE pattern IN (:patterns)
