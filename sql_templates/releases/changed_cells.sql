-- The rows of two releases, by all columns that both have. A NULL agrees with a NULL.
-- Parameters: :earlier, :later                the rows of the two releases
--             :earlier_values, :later_values  all common columns AS c0, c1, ..., in comparable form
--             :cells                          c0, c1, ...
-- Result: :cells, earlier_rows, later_rows
SELECT :cells, SUM(earlier_row) AS earlier_rows, SUM(later_row) AS later_rows
FROM (
  SELECT :earlier_values, 1 AS earlier_row, 0 AS later_row FROM :earlier
  UNION ALL
  SELECT :later_values, 0 AS earlier_row, 1 AS later_row FROM :later
) AS both_releases
GROUP BY :cells
