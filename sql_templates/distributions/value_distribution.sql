-- The distribution of a column in a table and in its protected copy, value by value, without the values themselves.
-- Parameters: :counted values_of_both.sql
--             :shown   NULL, or the value's text if the user requested values
--             :most    the maximum number of rows returned: NULL first, then the values that lost most rows
-- Result: level, shown, missing (1 for NULL), rows_before, weight_before, squares_before, rows_after, weight_after,
--         squares_after; and, repeated in every row, over all values except NULL: values_before, values_after (distinct
--         values), vanished, added (values only before, only after), gained (rows added to values that became more
--         frequent)
SELECT
  level,
  :shown AS shown,
  CASE WHEN value IS NULL THEN 1 ELSE 0 END AS missing,
  rows_before,
  weight_before,
  squares_before,
  rows_after,
  weight_after,
  squares_after,
  SUM(CASE WHEN value IS NOT NULL AND rows_before > 0 THEN 1 ELSE 0 END) OVER () AS values_before,
  SUM(CASE WHEN value IS NOT NULL AND rows_after > 0 THEN 1 ELSE 0 END) OVER () AS values_after,
  SUM(CASE WHEN value IS NOT NULL AND rows_after = 0 THEN 1 ELSE 0 END) OVER () AS vanished,
  SUM(CASE WHEN value IS NOT NULL AND rows_before = 0 THEN 1 ELSE 0 END) OVER () AS added,
  SUM(CASE WHEN value IS NOT NULL AND rows_after > rows_before THEN rows_after - rows_before ELSE 0 END) OVER () AS gained
FROM :counted
ORDER BY
  CASE WHEN value IS NULL THEN 1 ELSE 0 END DESC,
  rows_before - rows_after DESC,
  level
LIMIT :most
