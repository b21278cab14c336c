-- Pairs of different rows of some persons, half of them those with the most: how many persons have both. One pair that
-- fewer than k have proves that such a choice exists; none proves nothing. Those who have the rarer row of a pair are few.
-- Parameters: :coded    coded.sql
--             :place    a random order of persons
--             :half     so many persons with the most different rows are tried, and so many others
--             :rows     so many of a person's rows at most, the rarest
--             :k        the k of the counts below k
-- Result: one row: tried (persons), smallest, below_k (persons)
WITH coded AS (
  SELECT * FROM :coded
), chosen AS (
  SELECT person
  FROM (
    SELECT
      person,
      ROW_NUMBER() OVER (ORDER BY items DESC, person) AS by_rows,
      ROW_NUMBER() OVER (ORDER BY :place, person) AS by_chance
    FROM (SELECT person, COUNT(*) AS items FROM coded GROUP BY person) AS persons
  ) AS ordered
  WHERE by_rows <= :half OR by_chance <= :half
), own AS (
  SELECT coded.person, item, ROW_NUMBER() OVER (PARTITION BY coded.person ORDER BY having_it, item) AS turn
  FROM coded
  JOIN chosen ON chosen.person = coded.person
), relevant AS (
  SELECT person, item FROM coded WHERE item IN (SELECT item FROM own WHERE turn <= :rows)
), pairs AS (
  SELECT one.person, one.item AS first_item, other.item AS second_item
  FROM own AS one
  JOIN own AS other ON other.person = one.person AND other.turn > one.turn
  WHERE one.turn <= :rows AND other.turn <= :rows
), having_both AS (
  SELECT first_item, second_item, COUNT(*) AS persons
  FROM (SELECT DISTINCT first_item, second_item FROM pairs) AS each_once
  JOIN relevant AS one ON one.item = first_item
  JOIN relevant AS other ON other.item = second_item AND other.person = one.person
  GROUP BY first_item, second_item
)
SELECT
  COUNT(*) AS tried,
  MIN(fewest) AS smallest,
  SUM(CASE WHEN fewest < :k THEN 1 ELSE 0 END) AS below_k
FROM (
  SELECT person, MIN(having_both.persons) AS fewest
  FROM pairs
  JOIN having_both ON having_both.first_item = pairs.first_item AND having_both.second_item = pairs.second_item
  GROUP BY person
) AS persons
