-- How many rows lie in each bucket of each column: in rarest buckets one finds the rows of small classes.
-- Parameters: :hashes    hashes of the columns, named h0, h1, ...
--             :relation  the audited rows
--             :drawn     which rows are counted, by those names: about one in so many
--             :aliased   the buckets of the columns by those names, named b0, b1, ...
--             :buckets   those names;  :bucket  the first of them that is not NULL
--             :sets      each of them, as grouping sets
-- Result: set_number  one bit per column, leftmost column highest; the bit of the column is 0
--         bucket, row_count
SELECT
  GROUPING(:buckets) AS set_number,
  :bucket AS bucket,
  COUNT(*) AS row_count
FROM (
  SELECT :aliased
  FROM (
    SELECT :hashes
    FROM :relation
    OFFSET 0
  ) AS hashed
  WHERE :drawn
) AS bucketed
GROUP BY GROUPING SETS (:sets)
