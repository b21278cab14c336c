-- The rows of one region.
-- Parameters: :names     the hashes
--             :rows      rows_of_regions.sql, evaluated once
--             :region    whether a row lies in the region
-- Result: as rows_of_regions.sql
SELECT :names
FROM :rows
WHERE :region
