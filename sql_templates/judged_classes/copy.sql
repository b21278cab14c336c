-- The rows of a copy with coarser values, without those in classes that miss a rule.
-- Parameters: :coded  coded rows with the cells AS c0, c1, ...;  :cells  these;  :deciding  the bits of the words that
--             decide a class AS k0, k1, ...;  :judged  the classes: c0, c1, ..., exceeds;  :same  the class of a row
--             :published  the cells under the names of the columns
-- Result: one row per row that is left: the columns of the copy
SELECT :published
FROM (SELECT :cells, :deciding FROM :coded) AS shown
INNER JOIN :judged ON :same
WHERE judged.exceeds = 0
