-- Persons by the classes of those whose rows are the same, each as often: what whoever knows all rows of a person, and
-- that they are all, finds.
-- Parameters: :coded          coded.sql
--             :beyond_copies  more than any row of a person has copies, so that a number tells the row and how often it is
--             :k              the k of the counts below k
-- Result: one row: person_count, smallest, below_k (persons), class_count, alone (persons)
WITH histories AS (
  SELECT ARRAY_AGG(often ORDER BY often) AS items
  FROM (SELECT person, item * :beyond_copies + copies AS often FROM :coded) AS numbered
  GROUP BY person
), alike AS (
  SELECT COUNT(*) AS persons
  FROM histories
  GROUP BY items
)
SELECT
  SUM(persons) AS person_count,
  MIN(persons) AS smallest,
  SUM(CASE WHEN persons < :k THEN persons ELSE 0 END) AS below_k,
  COUNT(*) AS class_count,
  SUM(CASE WHEN persons < 2 THEN 1 ELSE 0 END) AS alone
FROM alike
