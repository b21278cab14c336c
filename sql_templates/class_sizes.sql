-- How many classes of each size there are: answers for every k at once, and gives the histogram.
-- Parameters: :classes  classes.sql
-- Result: one row per class size (at most the square root of twice the row count): class_size, class_count
SELECT
  class_size,
  COUNT(*) AS class_count
FROM :classes
GROUP BY class_size
