-- Which released rows fit which people: a row fits a person if all that it shows are values of the person. Each pattern
-- is looked up once per column set that stays visible; no pairs of rows are compared.
-- Parameters: :keys   key0, ... : each lane of the packed pattern, without the bits of the columns that are hidden
--             :names  the names of these keys;  :lanes  v0, ...
CREATE OR REPLACE TABLE fits AS
WITH releases AS (
  SELECT release, mask, :names, SUM(size) AS release_rows FROM release_owners GROUP BY ALL
), masks AS (
  SELECT DISTINCT mask, :lanes FROM release_owners
), people AS (
  SELECT mask, pattern, size AS people, :keys FROM masks CROSS JOIN packed
)
SELECT pattern, people, release, release_rows FROM people JOIN releases USING (mask, :names)
