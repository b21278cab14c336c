-- What certain_two.sql compares: the pairs of different rows of a person, each counted twice, for each of the person's
-- values of the sensitive column.
-- Parameters: :coded      coded.sql
--             :relation, :sensitive, :entity  as in certain_two.sql
-- Result: one row: the number
WITH held AS (
  SELECT :entity AS person, :sensitive AS sensitive_value
  FROM :relation
  WHERE NOT :entity IS NULL
  GROUP BY :entity, :sensitive
), of_values AS (
  SELECT person, COUNT(*) AS own_values FROM held GROUP BY person
), of_rows AS (
  SELECT person, COUNT(*) AS items FROM :coded GROUP BY person
)
SELECT SUM(items * (items - 1) * own_values) AS compared
FROM of_rows
JOIN of_values ON of_values.person = of_rows.person
