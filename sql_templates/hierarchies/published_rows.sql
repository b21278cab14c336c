-- The rows of a copy with coarser values, without those in classes below k.
-- Parameters: :coded  coded_rows.sql with the cells AS c0, c1, ...;  :masked  the bits of w0, ... that decide a class
--             :cells  c0, c1, ...;  :published  the same under the names of the columns;  :k
-- Result: one row per row that is left: the columns of the copy
SELECT :published
FROM (SELECT :cells, COUNT(*) OVER (PARTITION BY :masked) AS class_size FROM :coded) AS sized
WHERE class_size >= :k
