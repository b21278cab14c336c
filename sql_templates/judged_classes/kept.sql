-- The rows that stay when those in classes that miss a rule by their own rows are left out.
-- Parameters: :columns, :rows  as in of_rows.sql;  :judged  the classes of `masked`: c0, c1, ..., exceeds
--             :same  the class of a row;  :kept  the columns of `masked`
-- Result: one row per row that stays: the columns
WITH masked AS (
  SELECT :columns FROM :rows
)
SELECT :kept
FROM masked
INNER JOIN :judged ON :same
WHERE judged.exceeds = 0
