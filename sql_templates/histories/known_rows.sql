-- Persons by what whoever knows one or two of their rows finds: of each person the least number of persons who have all
-- known rows, whichever rows these are. NULL equals NULL in a row; rows without a person are left out.
-- [Terrovitis, Mamoulis, Kalnis 2008: k^m-anonymity]
-- Parameters: :relation  the audited rows
--             :columns   the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :entity    the column that identifies persons
--             :k         the k of the counts below k
-- Result: one row: person_count, smallest, below_k (persons), 0
WITH known AS (
  SELECT :aliased, :entity AS person
  FROM :relation
  WHERE NOT :entity IS NULL
  GROUP BY :columns, :entity
), coded AS (
  SELECT
    person,
    DENSE_RANK() OVER (ORDER BY :names) AS item,
    COUNT(*) OVER (PARTITION BY :names) AS having_it
  FROM known
), pairs AS (
  SELECT one.item AS first_item, other.item AS second_item, COUNT(*) AS having_both
  FROM coded AS one
  JOIN coded AS other ON one.person = other.person AND one.item < other.item
  GROUP BY one.item, other.item
), of_persons AS (
  SELECT person, MIN(having_it) AS fewest
  FROM coded
  GROUP BY person
  UNION ALL
  SELECT one.person, MIN(having_both) AS fewest
  FROM coded AS one
  JOIN coded AS other ON one.person = other.person AND one.item < other.item
  JOIN pairs ON pairs.first_item = one.item AND pairs.second_item = other.item
  GROUP BY one.person
)
SELECT
  COUNT(*) AS person_count,
  MIN(fewest) AS smallest,
  SUM(CASE WHEN fewest < :k THEN 1 ELSE 0 END) AS below_k,
  0 AS nothing
FROM (SELECT person, MIN(fewest) AS fewest FROM of_persons GROUP BY person) AS persons
