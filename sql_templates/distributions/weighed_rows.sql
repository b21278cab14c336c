-- The number of rows, and whether their weights are usable: each a finite number of at least 0, some above 0.
-- Parameters: :relation  the rows
--             :weight    a row's weight, as a float
-- Result: one row: row_count, null_weights (rows without a weight), bad_weights (negative or not finite),
--         used_weights (rows whose weight is above 0)
SELECT
  COUNT(*) AS row_count,
  SUM(CASE WHEN :weight IS NULL THEN 1 ELSE 0 END) AS null_weights,
  SUM(CASE WHEN :weight < 0 OR :weight > 1e300 THEN 1 ELSE 0 END) AS bad_weights,
  SUM(CASE WHEN :weight > 0 THEN 1 ELSE 0 END) AS used_weights
FROM :relation
