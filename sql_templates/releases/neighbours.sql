-- How many rows have the same value of a column as the row before them, and how often that is chance.
-- Parameters: :relation  the released rows
--             :place     the number of a row, as it lies there
--             :text      the value as text, which a NULL has, too
-- Result: row_count, alike, pairs (of two rows with the same value, in either order)
WITH lines AS (
  SELECT :place AS place, :text AS cell FROM :relation
), cells AS (
  SELECT cell, COUNT(*) AS cell_rows FROM lines GROUP BY cell
), neighbours AS (
  SELECT cell, LAG(cell) OVER (ORDER BY place) AS cell_before FROM lines
)
SELECT
  COUNT(*) AS row_count,
  SUM(CASE WHEN cell = cell_before THEN 1 ELSE 0 END) AS alike,
  (SELECT SUM(cell_rows * (cell_rows - 1)) FROM cells) AS pairs
FROM neighbours
