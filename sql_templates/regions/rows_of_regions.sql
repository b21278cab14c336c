-- The rows of any of some regions as hashes of their columns, each evaluated once.
-- Parameters: :hashes    hashes of the columns, named h0, h1, ...
--             :relation  the audited rows
--             :names     those names
--             :regions   whether a row lies in a region, for each of them
-- Result: one row per row: h0, h1, ...
SELECT :names
FROM (
  SELECT :hashes
  FROM :relation
  OFFSET 0
) AS every_row
WHERE :regions
