-- Minimum, maximum and distinct count of some columns of a table, for a first pass, in one scan. Minimum and maximum
-- are values of cells and must not leave the engine: column_ranges.sql returns only their order.
-- Parameters: :measures  low0, high0, values0, low1, ...: minimum, maximum and distinct count of the columns
--             :table     the table
--             :numbers, :lows, :highs, :distinct_values  the columns' numbers, and those measures
-- Result: one row per column: number, low, high (NULL without a value), distinct_values
SELECT
  UNNEST(ARRAY(:numbers)) AS number,
  UNNEST(ARRAY(:lows)) AS low,
  UNNEST(ARRAY(:highs)) AS high,
  UNNEST(ARRAY(:distinct_values)) AS distinct_values
FROM (SELECT :measures FROM :table) AS measured
