-- The least that the rows lose in any plan: each shows levels on which k rows agree. Columns can be divided into groups,
-- each of which loses at least its own.
-- Parameters: :classes  the classes of the rows: their codes, n, and sums of the leaves of their cells;  :words  the codes
--             :choices  bound_choice.sql of each choice of levels of each group
-- Result: one row: rows, what they lose
WITH classes AS MATERIALIZED (
  SELECT * FROM :classes
), choices AS (
  SELECT * FROM :choices
)
SELECT (SELECT SUM(n) FROM classes) AS row_count, SUM(loss) AS lost
FROM (SELECT place, :words, MIN(loss) AS loss FROM choices GROUP BY place, :words) AS cheapest
