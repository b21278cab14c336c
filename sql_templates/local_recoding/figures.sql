-- What a plan shows, in one row.
-- Parameters: :plan     plan.sql;  :shared  what the rows of a group have in common;  :safe  whether it is safe;  :people  who is in it
--             :classes  the classes of the rows: their codes, and sums of the leaves of their cells
--             :words    codes and masks;  :same  the codes of both agree;  :figures  sums over both
-- Result: rows, groups that show the same, rows or persons of the smallest one, groups that are not safe, the figures
WITH planned AS MATERIALIZED (
  SELECT * FROM :plan
), alike AS MATERIALIZED (
  SELECT :people AS size, :safe AS safe FROM planned GROUP BY :shared
)
SELECT
  SUM(plan.n) AS row_count,
  (SELECT COUNT(*) FROM alike) AS group_count,
  (SELECT MIN(size) FROM alike) AS smallest,
  (SELECT COUNT(*) FROM alike WHERE NOT safe) AS not_safe,
  :figures
FROM (SELECT :words, CAST(SUM(n) AS BIGINT) AS n FROM planned GROUP BY :words) AS plan
INNER JOIN :classes ON :same
