-- About how many distinct values columns have in common, each column with each other, from samples of their values.
-- Samples of a greater share are part of those of a smaller, so that two columns' samples have in common what both
-- columns hold of the rarer sample: it tells which part of its values the other column has.
-- Parameters: :samples  sampled_values.sql of each table, together
-- Result: kind 0: one_number, other_number (greater), and the values in common in the rarer of the two samples;
--         kind 1: one_number, a share, and the column's values in a sample of that share
WITH column_values AS MATERIALIZED (
  SELECT * FROM :samples
), shares AS (
  SELECT DISTINCT share FROM column_values
)
SELECT 0 AS kind, one.number AS one_number, other.number AS other_number, COUNT(*) AS counted
FROM column_values AS one
JOIN column_values AS other ON one.column_value = other.column_value AND one.number < other.number
GROUP BY one.number, other.number
UNION ALL
SELECT 1 AS kind, column_values.number AS one_number, shares.share AS other_number, COUNT(*) AS counted
FROM column_values
JOIN shares ON shares.share >= column_values.share
WHERE column_values.place % shares.share = 0
GROUP BY column_values.number, shares.share
