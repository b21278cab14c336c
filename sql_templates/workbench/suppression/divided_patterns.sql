-- The row patterns, each divided by what its rows lose. Copies of a pattern have the same codes.
-- Parameters: :codes  c0, c1, ...
CREATE OR REPLACE TABLE patterns AS
SELECT CAST(ROW_NUMBER() OVER (ORDER BY shares.pattern, shares.mask) - 1 AS INTEGER) AS pattern, shares.size, :codes
FROM patterns JOIN shares USING (pattern)
