-- The rows of a copy with coarser values, without those in classes below k.
-- Parameters: :coded  coded_rows.sql with the cells AS c0, c1, ..., or the labels of the rows
--             :deciding  what decides a class: the bits of w0, ..., or the labels
--             :cells  c0, c1, ...;  :published  the same under the names of the columns;  :k
-- Result: one row per row that is left: the columns of the copy
SELECT :published
FROM (SELECT :cells, COUNT(*) OVER (PARTITION BY :deciding) AS class_size FROM :coded) AS sized
WHERE class_size >= :k
