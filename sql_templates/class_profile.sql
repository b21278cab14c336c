-- Class profile: what the equivalence classes of each column set look like. Every measure is arithmetic on it.
-- Parameters: :classes  classes.sql or classes_of_sets.sql
--             :k        classes below k are at risk
-- Result: one row per column set, none for a set without rows. WIDE stands for the engine's integer type that holds
--         the square of a row count.
SELECT
  set_number,
  COUNT(*) AS class_count,
  SUM(class_size) AS row_count,
  MIN(class_size) AS smallest_class,
  MAX(class_size) AS largest_class,
  SUM(CASE WHEN class_size < :k THEN 1 ELSE 0 END) AS classes_at_risk,
  SUM(CASE WHEN class_size < :k THEN class_size ELSE 0 END) AS rows_at_risk,
  SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS unique_rows,
  SUM(CAST(class_size AS WIDE) * (class_size - 1)) AS colliding_pairs
FROM :classes
GROUP BY set_number
