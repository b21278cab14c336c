-- Number of classes of each size, for each column set. Every measure, for every k, follows from it by arithmetic.
-- Parameters: :classes  classes.sql or classes_of_sets.sql
-- Result: set_number, class_size, class_count: one row per column set and size that occurs, at most the square root of
--         twice the row count; none for a set without rows
SELECT
  set_number,
  class_size,
  COUNT(*) AS class_count
FROM :classes
GROUP BY set_number, class_size
