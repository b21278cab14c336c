-- The same for two rows of a person, drawn without replacement; of those who have one, that one. A choice with a row that
-- nobody else has needs no counting; other pairs of different rows are counted once for all persons.
-- [Terrovitis, Mamoulis, Kalnis 2008: k^m-anonymity; de Montjoye et al. 2013: unicity]
-- Parameters: :coded  coded.sql
--             :k      the k of the counts below k
-- Result: own_rows, person_count, alone (twice the choices of two rows that no other person has both), rare (the same,
--         fewer than k persons), smallest, below_k (persons with a rare choice): a row per number of rows
WITH coded AS (
  SELECT * FROM :coded
), frequent AS (
  SELECT person, copies, item FROM coded WHERE having_it > 1
), pairs AS (
  SELECT one.item AS first_item, other.item AS second_item, COUNT(*) AS having_both
  FROM frequent AS one
  JOIN frequent AS other ON one.person = other.person AND one.item < other.item
  GROUP BY one.item, other.item
), of_pairs AS (
  SELECT
    one.person,
    MIN(having_both) AS fewest,
    SUM(CASE WHEN having_both < 2 THEN one.copies * other.copies ELSE 0 END) AS alone,
    SUM(CASE WHEN having_both < :k THEN one.copies * other.copies ELSE 0 END) AS rare
  FROM frequent AS one
  JOIN frequent AS other ON one.person = other.person AND one.item < other.item
  JOIN pairs ON pairs.first_item = one.item AND pairs.second_item = other.item
  GROUP BY one.person
), of_rows AS (
  SELECT
    person,
    SUM(copies) AS own_rows,
    SUM(CASE WHEN having_it > 1 THEN copies ELSE 0 END) AS shared_rows,
    SUM(CASE WHEN having_it > 1 AND having_it < :k THEN copies * (copies - 1) ELSE 0 END) AS rare_twice,
    MIN(having_it) AS fewest
  FROM coded
  GROUP BY person
), persons AS (
  SELECT
    own_rows,
    CASE WHEN of_pairs.fewest < of_rows.fewest THEN of_pairs.fewest ELSE of_rows.fewest END AS fewest,
    own_rows * (own_rows - 1) - shared_rows * (shared_rows - 1) + 2 * COALESCE(alone, 0) AS alone,
    own_rows * (own_rows - 1) - shared_rows * (shared_rows - 1) + rare_twice + 2 * COALESCE(rare, 0) AS rare
  FROM of_rows
  LEFT JOIN of_pairs ON of_pairs.person = of_rows.person
)
SELECT
  own_rows,
  COUNT(*) AS person_count,
  SUM(alone) AS alone,
  SUM(rare) AS rare,
  MIN(fewest) AS smallest,
  SUM(CASE WHEN fewest < :k THEN 1 ELSE 0 END) AS below_k
FROM persons
GROUP BY own_rows
