-- What the rows in small classes have, if classes are merged by the bits of a mask.
-- Parameters: :node  a number;  :k;  :classes  coded_classes.sql, or a table with its rows;  :masked  w0 & ..., ...
--             :sampled  which classes count, by a hash of their own bits: of these all rows do
--             :class_sums  the sums of figures of a class AS s0, ...;  :sums  of those in classes below k
-- Result: one row: node, below, the sums
SELECT :node AS node, SUM(CASE WHEN class_size < :k THEN class_size ELSE 0 END) AS below, :sums
FROM (SELECT SUM(n) AS class_size, :class_sums FROM :classes WHERE :sampled GROUP BY :masked) AS merged
