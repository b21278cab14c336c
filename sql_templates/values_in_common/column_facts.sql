-- What a first look at some columns of a table needs, in one scan. Ends are values of cells: they must not leave the
-- engine, and column_ranges.sql lets only their order out.
-- Parameters: :measures  low0, high0, values0, low1, ...: least, greatest, and number of distinct values of the columns
--             :table     the table
--             :numbers, :lows, :highs, :distinct_values  the columns' numbers, and those measures
-- Result: one row per column: number, low, high (NULL without a value), distinct_values
SELECT
  UNNEST(ARRAY(:numbers)) AS number,
  UNNEST(ARRAY(:lows)) AS low,
  UNNEST(ARRAY(:highs)) AS high,
  UNNEST(ARRAY(:distinct_values)) AS distinct_values
FROM (SELECT :measures FROM :table) AS measured
