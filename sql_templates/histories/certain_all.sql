-- Persons whose rows are such that all who have the same, each as often, have a value of the sensitive column in common.
-- Parameters: :coded, :beyond_copies  as in whole.sql
--             :relation, :sensitive, :entity  as in certain_two.sql
-- Result: one row: person_count
WITH histories AS (
  SELECT person, ARRAY_AGG(often ORDER BY often) AS items
  FROM (SELECT person, item * :beyond_copies + copies AS often FROM :coded) AS numbered
  GROUP BY person
), alike AS (
  SELECT items, COUNT(*) AS persons FROM histories GROUP BY items
), held AS (
  SELECT :entity AS person, :sensitive AS sensitive_value
  FROM :relation
  WHERE NOT :entity IS NULL
  GROUP BY :entity, :sensitive
), shared AS (
  SELECT items, sensitive_value, COUNT(*) AS having_it
  FROM histories
  JOIN held ON held.person = histories.person
  GROUP BY items, sensitive_value
), commonest AS (
  SELECT items, MAX(having_it) AS having_it FROM shared GROUP BY items
)
SELECT SUM(CASE WHEN having_it = persons THEN persons ELSE 0 END) AS person_count
FROM alike
JOIN commonest ON commonest.items = alike.items
