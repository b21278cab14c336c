-- These patterns lose nothing after all.
-- Parameters: :patterns
UPDATE plan SET mask = 0 WHERE pattern IN (:patterns)
