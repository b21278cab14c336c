-- The shares of one block as they are.
-- Parameters: :block
-- Result: pattern, kept, size
SELECT pattern, kept, size FROM blocks WHERE block = :block
