-- The row patterns of one block, each with its number of rows in the block.
-- Parameters: :block;  :codes  ANY_VALUE(c0) AS c0, ...
-- Result: one row per row pattern: pattern, size, c0, c1, ...
SELECT pattern, CAST(SUM(blocks.size) AS BIGINT) AS size, :codes
FROM blocks JOIN patterns USING (pattern)
WHERE block = :block
GROUP BY pattern
