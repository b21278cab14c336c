-- Two released files or tables, line by line: at how many places both have the same values, and how often that is chance.
-- Parameters: :earlier, :later            the rows of the two releases
--             :earlier_place, :later_place  the number of a row, as it lies there
--             :earlier_text, :later_text  the values of all common columns as one text
-- Result: line_count (of both), alike, earlier_rows, later_rows, pairs (of a row of each with the same values)
WITH earlier_lines AS (
  SELECT :earlier_place AS place, :earlier_text AS cells FROM :earlier
), later_lines AS (
  SELECT :later_place AS place, :later_text AS cells FROM :later
), earlier_cells AS (
  SELECT cells, COUNT(*) AS cell_rows FROM earlier_lines GROUP BY cells
), later_cells AS (
  SELECT cells, COUNT(*) AS cell_rows FROM later_lines GROUP BY cells
)
SELECT
  COUNT(*) AS line_count,
  SUM(CASE WHEN earlier_lines.cells = later_lines.cells THEN 1 ELSE 0 END) AS alike,
  (SELECT COUNT(*) FROM earlier_lines) AS earlier_rows,
  (SELECT COUNT(*) FROM later_lines) AS later_rows,
  (
    SELECT SUM(earlier_cells.cell_rows * later_cells.cell_rows)
    FROM earlier_cells
    JOIN later_cells ON later_cells.cells = earlier_cells.cells
  ) AS pairs
FROM earlier_lines
JOIN later_lines ON later_lines.place = earlier_lines.place
