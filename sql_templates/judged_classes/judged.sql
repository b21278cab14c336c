-- The classes that miss any part of a rule. Parameters: :names  c0, c1, ...;  :parts  sizes.sql, and for each limit that
-- the rows of a class alone decide a row per class;  :sums  figures of a class, which the other parts have as 0
-- Result: one row per class: c0, ..., class_size, exceeds (1 or 0), the figures
SELECT :names, MAX(class_size) AS class_size, MAX(exceeds) AS exceeds, :sums
FROM :parts
GROUP BY :names
