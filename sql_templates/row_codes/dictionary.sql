-- The values of one column of the row patterns, numbered from 1 in a shuffled order. The shuffle permutes ranks, not
-- values: equal values have one rank, but may have several texts and hashes.
-- Parameters: :column    v0, v1, ...
--             :shuffled  a hash of value_rank with the key of the row patterns
-- Result: one row per value: value, place
SELECT value, ROW_NUMBER() OVER (ORDER BY :shuffled, value_rank) AS place
FROM (
  SELECT value, ROW_NUMBER() OVER (ORDER BY value) AS value_rank
  FROM (SELECT DISTINCT :column AS value FROM classes WHERE :column IS NOT NULL) AS domain
) AS ranked
