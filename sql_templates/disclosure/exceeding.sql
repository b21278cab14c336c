-- The classes of a column set by size, and how many of them exceed a limit on what they disclose about a sensitive
-- column. NULL is a value like any other; a NULL agrees with a NULL.
-- Parameters: :set_number  integer, returned unchanged: identifies the limit in a query over several
--             :relation    the audited rows, with the sensitive column
--             :columns     the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :sensitive   the sensitive column
--             :classes     few_values.sql or another query over the cells: c0, c1, ..., sensitive_value, cell_size (rows
--                          of a class with the same sensitive value); or over the shares: the cells with the rows of
--                          the class, of the value, and of the table. It returns a row per class: class_size, exceeds
--                          (1 if it exceeds the limit, else 0), worst (what it discloses, as an integer: more is worse)
-- Result: set_number, class_size, class_count, exceeding (classes of that size that exceed the limit), worst (of any
--         class of that size): one row per size that occurs
SELECT
  :set_number AS set_number,
  class_size,
  COUNT(*) AS class_count,
  SUM(exceeds) AS exceeding,
  MAX(worst) AS worst
FROM (
  WITH cells AS (
    SELECT :aliased, :sensitive AS sensitive_value, COUNT(*) AS cell_size
    FROM :relation
    GROUP BY :columns, :sensitive
  ), shares AS (
    SELECT
      cells.*,
      SUM(cell_size) OVER (PARTITION BY :names) AS class_size,
      SUM(cell_size) OVER (PARTITION BY sensitive_value) AS value_size,
      SUM(cell_size) OVER () AS row_count
    FROM cells
  )
  SELECT class_size, exceeds, worst
  FROM :classes
) AS judged
GROUP BY class_size
