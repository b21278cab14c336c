-- Estimates how many distinct values of some columns are contained in others: samples of the former are looked up in
-- all values of the latter. Only columns of the same group are compared.
-- Parameters: :samples  sampled_values.sql of each table, together
--             :cells    column_cells.sql of each table, together
-- Result: group_number, one_number, other_number, and the number of values in the one's sample that the other contains
--         (omitted if less than half of the sample); of a column with itself the size of its sample
WITH samples AS MATERIALIZED (
  SELECT * FROM :samples
), sizes AS (
  SELECT group_number, number, COUNT(*) AS size
  FROM samples
  GROUP BY group_number, number
), held AS (
  SELECT DISTINCT all_cells.number, all_cells.group_number, all_cells.column_value
  FROM :cells
  JOIN (SELECT DISTINCT group_number, column_value FROM samples) AS looked_for
    ON looked_for.column_value = all_cells.column_value AND looked_for.group_number = all_cells.group_number
), counts AS (
  SELECT samples.group_number, samples.number AS one_number, held.number AS other_number, COUNT(*) AS counted
  FROM samples
  JOIN held
    ON held.column_value = samples.column_value
    AND held.group_number = samples.group_number
    AND held.number <> samples.number
  GROUP BY samples.group_number, samples.number, held.number
)
SELECT counts.group_number, counts.one_number, counts.other_number, counts.counted
FROM counts
JOIN sizes ON sizes.group_number = counts.group_number AND sizes.number = counts.one_number
WHERE 2 * counts.counted >= sizes.size
UNION ALL
SELECT group_number, number AS one_number, number AS other_number, size AS counted
FROM sizes
