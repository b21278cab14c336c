-- One column of the row patterns, in their order.
-- Parameters: :column  size AS code, c0 AS code, ...
-- Result: pattern, code
SELECT pattern, :column FROM patterns ORDER BY pattern
