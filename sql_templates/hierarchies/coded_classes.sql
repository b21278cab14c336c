-- The classes of equal codes. Parameters: :words  w0, w1, ...;  :sums  more figures of a class;  :coded  coded_rows.sql
-- Result: one row per class: w0, w1, ..., n rows, the figures
SELECT :words, COUNT(*) AS n, :sums
FROM :coded
GROUP BY :words
