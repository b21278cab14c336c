-- How many different rows two relations do not have equally often.
-- Parameters: :planned, :written  the relations;  :cells  their columns, in comparable form
-- Result: the number
SELECT COUNT(*) AS others
FROM (
  SELECT :cells
  FROM (
    SELECT :cells, 1 AS side FROM :planned
    UNION ALL
    SELECT :cells, -1 AS side FROM :written
  ) AS both_sides
  GROUP BY :cells
  HAVING SUM(side) <> 0
) AS differing
