-- Random pairs of different rows, drawn independently and counted by the columns that separate them. A pair is two
-- different numbers below the table's row count, so rows are drawn with replacement. The numbers drawn are then
-- assigned to the rows of a sample without replacement, each number to a different row. This is equivalent to numbering
-- the whole table, and reads the table once.
-- Parameters: :relation  a sample of min(rows, 2 * pairs) rows
--             :aliased   its columns AS c0, c1, ...
--             :order     the contents of a row, hashed: a numbering that does not depend on the engine's order
--             :pairs     the number of pairs;  :sample  rows of the sample;  :rows  rows of the whole table
--             :first, :step   random integers made of pair_number
--             :shuffle   a random order made of row_number
--             :masks     integers of one bit per column, 1 where left_row and right_row differ, AS mask_0, mask_1, ...
--             :names     mask_0, mask_1, ...
-- Result: mask_0, mask_1, ..., pair_count
WITH sampled AS (
  SELECT :aliased, ROW_NUMBER() OVER (ORDER BY :order) AS row_number
  FROM :relation
), pairs AS (
  SELECT
    pair_number,
    :first % :rows AS first_number,
    (:first % :rows + 1 + :step % (:rows - 1)) % :rows AS second_number
  FROM GENERATE_SERIES(1, :pairs) AS numbers(pair_number)
), drawn AS (
  SELECT number, ROW_NUMBER() OVER (ORDER BY number) AS place
  FROM (
    SELECT first_number AS number FROM pairs
    UNION
    SELECT second_number AS number FROM pairs
  ) AS different
), places AS (
  SELECT row_number, ROW_NUMBER() OVER (ORDER BY :shuffle) AS place
  FROM GENERATE_SERIES(1, :sample) AS numbers(row_number)
), given AS MATERIALIZED (
  SELECT drawn.number, sampled.*
  FROM drawn
  JOIN places ON places.place = drawn.place
  JOIN sampled ON sampled.row_number = places.row_number
), compared AS (
  SELECT :masks
  FROM pairs
  JOIN given AS left_row ON left_row.number = pairs.first_number
  JOIN given AS right_row ON right_row.number = pairs.second_number
)
SELECT :names, COUNT(*) AS pair_count
FROM compared
GROUP BY :names
