-- How many released rows show a combination of values that few rows show. All that a row shows is its rarest combination,
-- so the rows that show all of that, and maybe more, are counted: those that hide no other columns than the row, and
-- agree with it on what it shows. A row that shows nothing shows no combination.
-- Parameters: :names, :lanes, :keys  as in release_owners.sql;  :blank  the mask of all columns;  :k
-- Result: one row: rows with a combination that no other row shows; rows with one that fewer than k rows show
WITH releases AS (
  SELECT release, mask, :lanes, :names, SUM(size) AS size FROM release_owners GROUP BY ALL
), masks AS (
  SELECT DISTINCT mask, :lanes FROM releases
), showing AS (
  SELECT mask, :names, SUM(size) AS showing
  FROM (
    SELECT masks.mask, size, :keys FROM masks JOIN releases ON (releases.mask & ~masks.mask) = 0
  ) AS shown
  GROUP BY ALL
)
SELECT
  COALESCE(SUM(CASE WHEN showing = 1 THEN size ELSE 0 END), 0),
  COALESCE(SUM(CASE WHEN showing < :k THEN size ELSE 0 END), 0)
FROM releases JOIN showing USING (mask, :names)
WHERE mask <> :blank
