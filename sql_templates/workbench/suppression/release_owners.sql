-- The patterns of a plan with what is released of their rows. Rows are released alike if they show the same columns and
-- values; a NULL of the table is released as a blank is, and nobody can tell them apart.
-- Parameters: :hidden   the columns that a row of `plan` joined with `patterns` loses, and those that are NULL in it
--             :visible  v0, ... of `mask`: for each lane the bits of the columns that stay visible
--             :keys     key0, ... : each lane of the packed pattern, without the bits of the other columns
--             :names    the names of these keys;  :lanes  v0, ...
CREATE OR REPLACE TABLE release_owners AS
WITH hidden AS (
  SELECT pattern, :hidden AS mask FROM plan JOIN patterns USING (pattern)
), masks AS (
  SELECT mask, :visible FROM (SELECT DISTINCT mask FROM hidden) AS distinct_masks
)
SELECT pattern, size, DENSE_RANK() OVER (ORDER BY mask, :names) AS release, mask, :lanes, :names
FROM (SELECT pattern, size, mask, :lanes, :keys FROM hidden JOIN masks USING (mask) JOIN packed USING (pattern)) AS keyed
