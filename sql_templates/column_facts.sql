-- What a first look at some columns of a table needs, in one scan. Ends are values of cells: they must not leave the
-- engine, and column_ranges.sql lets only their order out.
-- Parameters: :measures  low0, high0, present0, values0, crowded0, far0, low1, ... of the columns
--             :table     the table
--             :columns   a row per column: (its number, low0, high0, present0, values0, crowded0, far0)
-- Result: one row per column: number; low, high: its least and greatest value; present: rows where it is not NULL;
--         distinct_values: about how many it has; crowded: its values lie closer together than every other place between
--         the ends; far: zero is farther away than the ends are from each other
SELECT facts.*
FROM (SELECT :measures FROM :table) AS measured
CROSS JOIN LATERAL (VALUES (:columns)) AS facts(number, low, high, present, distinct_values, crowded, far)
