-- What the classes of a column set disclose about a sensitive column: for each number of different values that a class
-- holds, how many rows are in such classes, and how many of them hold their class's commonest value, which is the best
-- guess of whoever knows the column set. NULL is a value like any other; a NULL agrees with a NULL.
-- Parameters: :relation  the audited rows, with the sensitive column
--             :columns   the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :sensitive the sensitive column
--             :k         classes below k are small
-- Result: class_values (different values in a class), stated_values (those that are not NULL), small (1 or 0),
--         row_count, guessed (rows with the commonest value of their class), table_values (different values in the
--         table), guessed_blindly (rows with the commonest value of the table): one row per combination of the first
--         three that occurs; none for an empty relation
WITH cells AS (
  SELECT :aliased, :sensitive AS sensitive_value, COUNT(*) AS cell_size
  FROM :relation
  GROUP BY :columns, :sensitive
), classes AS (
  SELECT
    SUM(cell_size) AS class_size,
    COUNT(*) AS class_values,
    COUNT(sensitive_value) AS stated_values,
    MAX(cell_size) AS commonest
  FROM cells
  GROUP BY :names
), per_value AS (
  SELECT SUM(cell_size) AS value_size
  FROM cells
  GROUP BY sensitive_value
), blind AS (
  SELECT COUNT(*) AS table_values, MAX(value_size) AS guessed_blindly
  FROM per_value
)
SELECT
  class_values,
  stated_values,
  CASE WHEN class_size < :k THEN 1 ELSE 0 END AS small,
  SUM(class_size) AS row_count,
  SUM(commonest) AS guessed,
  MAX(table_values) AS table_values,
  MAX(guessed_blindly) AS guessed_blindly
FROM classes
CROSS JOIN blind
GROUP BY
  class_values,
  stated_values,
  CASE WHEN class_size < :k THEN 1 ELSE 0 END
