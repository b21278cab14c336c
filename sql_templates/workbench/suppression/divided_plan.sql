-- The suppression plan of divided patterns: those rows of the undivided pattern, first_row to last_row in any order,
-- lose these columns.
CREATE OR REPLACE TABLE plan AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY pattern, mask) - 1 AS INTEGER) AS pattern,
  CAST(mask AS BIGINT) AS mask,
  CAST(SUM(size) OVER (PARTITION BY pattern ORDER BY mask ROWS UNBOUNDED PRECEDING) - size + 1 AS BIGINT) AS first_row,
  CAST(SUM(size) OVER (PARTITION BY pattern ORDER BY mask ROWS UNBOUNDED PRECEDING) AS BIGINT) AS last_row
FROM shares
