-- The distinct keys of JSON records, in the order of their first appearance.
-- Parameters: :paths  the files
-- Result: is_object (false for a record that is not an object and has no keys), key (NULL for an object without keys),
--         times (the maximum number of times that one object has the key)
WITH shapes AS (
  SELECT is_object, keys, MIN(place) AS first_place
  FROM (
    SELECT JSON_TYPE(json) = 'OBJECT' AS is_object, JSON_KEYS(json) AS keys, ROW_NUMBER() OVER () AS place
    FROM READ_JSON_OBJECTS(:paths, hive_partitioning = false)
  ) AS records
  GROUP BY is_object, keys
), named AS (
  SELECT is_object, keys, first_place, UNNEST(keys) AS key, UNNEST(RANGE(LEN(keys))) AS position
  FROM shapes
), counted AS (
  SELECT is_object, keys, key, MIN(first_place) AS first_place, MIN(position) AS position, COUNT(*) AS times
  FROM named
  GROUP BY is_object, keys, key
)
SELECT is_object, key, times
FROM (
  SELECT true AS is_object, key, MAX(times) AS times, MIN((first_place, position)) AS appearance
  FROM counted
  GROUP BY key
  UNION ALL
  SELECT false AS is_object, NULL AS key, NULL AS times, (0, 0) AS appearance
  FROM shapes
  WHERE NOT is_object
) AS found
ORDER BY appearance
