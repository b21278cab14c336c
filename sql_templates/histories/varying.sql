-- Of each column, the persons who have several values of it in their rows, NULL among them: of the others it is static.
-- Rows without a person are left out.
-- Parameters: :relation  the audited rows
--             :entity    the column that identifies persons
--             :several   of each column, 1 if a person has several values, else 0;  :sums  their sums
-- Result: one row: a number of persons for each column
SELECT :sums
FROM (
  SELECT :several
  FROM :relation
  WHERE NOT :entity IS NULL
  GROUP BY :entity
) AS persons
