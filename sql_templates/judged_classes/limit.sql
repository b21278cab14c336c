-- The classes of `masked` by a limit on what they disclose about a sensitive column: see disclosure/exceeding.sql.
-- Parameters: :names  c0, c1, ...;  :sensitive  the sensitive value
--             :classes  a query over `cells`, or `shares`: a row per class, class_size, exceeds (1 or 0)
--             :figures  of these
-- Result: the figures, or one row per class with them
WITH cells AS (
  SELECT :names, :sensitive AS sensitive_value, CAST(SUM(n) AS BIGINT) AS cell_size
  FROM masked
  GROUP BY :names, :sensitive
), shares AS (
  SELECT
    cells.*,
    SUM(cell_size) OVER (PARTITION BY :names) AS class_size,
    SUM(cell_size) OVER (PARTITION BY sensitive_value) AS value_size,
    SUM(cell_size) OVER () AS row_count
  FROM cells
)
SELECT :figures
FROM :classes
