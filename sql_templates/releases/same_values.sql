-- The persons of two releases by a key that both have: how many have the same value of a column in both, and how often
-- that is chance.
-- Parameters: :earlier, :later              the rows of the two releases
--             :earlier_key, :later_key      the key as text
--             :earlier_text, :later_text    the value as text, which a NULL has, too
-- Result: person_count (in both), alike, pairs (of a value of each person with the same one of any other)
WITH earlier_values AS (
  SELECT :earlier_key AS key_value, :earlier_text AS cell FROM :earlier
), later_values AS (
  SELECT :later_key AS key_value, :later_text AS cell FROM :later
), persons AS (
  SELECT earlier_values.cell AS earlier_cell, later_values.cell AS later_cell
  FROM earlier_values
  JOIN later_values ON later_values.key_value = earlier_values.key_value
), earlier_cells AS (
  SELECT earlier_cell, COUNT(*) AS cell_rows FROM persons GROUP BY earlier_cell
), later_cells AS (
  SELECT later_cell, COUNT(*) AS cell_rows FROM persons GROUP BY later_cell
)
SELECT
  COUNT(*) AS person_count,
  SUM(CASE WHEN earlier_cell = later_cell THEN 1 ELSE 0 END) AS alike,
  (
    SELECT SUM(earlier_cells.cell_rows * later_cells.cell_rows)
    FROM earlier_cells
    JOIN later_cells ON later_cells.later_cell = earlier_cells.earlier_cell
  ) AS pairs
FROM persons
