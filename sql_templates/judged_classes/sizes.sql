-- The classes of `masked`, and whether they have fewer than k rows, or persons.
-- Parameters: :names  c0, c1, ...;  :people  counts who is in a class;  :k;  :sums  figures of a class
-- Result: one row per class: c0, ..., class_size (rows), exceeds and sure (1 if it is too small, else 0), the figures
SELECT
  :names,
  SUM(n) AS class_size,
  CASE WHEN :people < :k THEN 1 ELSE 0 END AS exceeds,
  CASE WHEN :people < :k THEN 1 ELSE 0 END AS sure,
  :sums
FROM masked
GROUP BY :names
