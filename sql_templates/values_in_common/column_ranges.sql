-- First pass over columns of several tables: compares ranges and distinct counts. Minimum and maximum of a column are
-- returned as ranks among those of all columns only.
-- Parameters: :facts    column_facts.sql of each table, together
--             :crowded  the distinct values of facts.* fill more than half of the places between minimum and maximum
--             :far      zero is farther away than minimum and maximum are from each other
--             :digits   for texts: one that begins with a digit may be between minimum and maximum
-- Result: one row per column with a value: number, distinct_values, low_place, high_place (from 1), crowded, far,
--         digits
WITH facts AS MATERIALIZED (
  SELECT * FROM :facts
), places AS (
  SELECT end_value, ROW_NUMBER() OVER (ORDER BY end_value) AS place
  FROM (SELECT low AS end_value FROM facts UNION SELECT high AS end_value FROM facts) AS ends
  WHERE NOT end_value IS NULL
)
SELECT
  facts.number,
  facts.distinct_values,
  low_places.place AS low_place,
  high_places.place AS high_place,
  :crowded AS crowded,
  :far AS far,
  :digits AS digits
FROM facts
JOIN places AS low_places ON low_places.end_value = facts.low
JOIN places AS high_places ON high_places.end_value = facts.high
