-- Persons by the classes of those whose rows are the same, each as often: what whoever knows all rows of a person, and
-- that they are all, finds. NULL equals NULL in a row; rows without a person are left out.
-- Parameters: :relation  the audited rows
--             :columns   the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :entity    the column that identifies persons
--             :k         the k of the counts below k
-- Result: one row: person_count, smallest, below_k (persons), class_count
WITH known AS (
  SELECT :aliased, :entity AS person, COUNT(*) AS copies
  FROM :relation
  WHERE NOT :entity IS NULL
  GROUP BY :columns, :entity
), coded AS (
  SELECT person, copies, DENSE_RANK() OVER (ORDER BY :names) AS item
  FROM known
), histories AS (
  SELECT ARRAY_AGG(item ORDER BY item) AS items, ARRAY_AGG(copies ORDER BY item) AS times
  FROM coded
  GROUP BY person
), alike AS (
  SELECT COUNT(*) AS persons
  FROM histories
  GROUP BY items, times
)
SELECT
  SUM(persons) AS person_count,
  MIN(persons) AS smallest,
  SUM(CASE WHEN persons < :k THEN persons ELSE 0 END) AS below_k,
  COUNT(*) AS class_count
FROM alike
