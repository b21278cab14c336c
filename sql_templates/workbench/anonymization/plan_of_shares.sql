-- The plan of an anonymization. The rows of a row pattern may be divided: those from first_row to last_row, in any
-- order of the pattern's rows, have one column set suppressed.
-- Parameters: :everything  all columns as a bit mask
CREATE OR REPLACE TABLE plan AS
SELECT
  pattern,
  CAST(:everything - kept AS BIGINT) AS mask,
  CAST(SUM(size) OVER (PARTITION BY pattern ORDER BY kept ROWS UNBOUNDED PRECEDING) - size + 1 AS BIGINT) AS first_row,
  CAST(SUM(size) OVER (PARTITION BY pattern ORDER BY kept ROWS UNBOUNDED PRECEDING) AS BIGINT) AS last_row
FROM shares
