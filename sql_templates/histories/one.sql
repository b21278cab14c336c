-- Persons by their number of rows, and what whoever knows one of these finds.
-- Parameters: :coded  coded.sql
--             :k      the k of the counts below k
-- Result: own_rows, person_count, alone (rows that no other person has), rare (rows that fewer than k persons have),
--         smallest, below_k (persons with a rare row), pairs (of different rows that others have, of each person),
--         most_copies: a row per number of rows
SELECT
  own_rows,
  COUNT(*) AS person_count,
  SUM(alone) AS alone,
  SUM(rare) AS rare,
  MIN(fewest) AS smallest,
  SUM(CASE WHEN fewest < :k THEN 1 ELSE 0 END) AS below_k,
  SUM(shared * (shared - 1)) AS pairs,
  MAX(most_copies) AS most_copies
FROM (
  SELECT
    person,
    SUM(copies) AS own_rows,
    SUM(CASE WHEN having_it < 2 THEN copies ELSE 0 END) AS alone,
    SUM(CASE WHEN having_it < :k THEN copies ELSE 0 END) AS rare,
    MIN(having_it) AS fewest,
    SUM(CASE WHEN having_it < 2 THEN 0 ELSE 1 END) AS shared,
    MAX(copies) AS most_copies
  FROM :coded
  GROUP BY person
) AS persons
GROUP BY own_rows
