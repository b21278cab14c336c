-- The classes that miss any part of a rule. Parameters: :names  c0, c1, ...;  :parts  sizes.sql, and for each limit that
-- the rows of a class alone decide a row per class;  :sums  figures of a class, which the other parts have as 0
-- Result: one row per class: c0, ..., class_size, exceeds (1 or 0), sure (1 if it misses a part that more
--         rows never break: so does each class that finer levels divide it into), the figures
SELECT :names, MAX(class_size) AS class_size, MAX(exceeds) AS exceeds, MAX(sure) AS sure, :sums
FROM :parts
GROUP BY :names
