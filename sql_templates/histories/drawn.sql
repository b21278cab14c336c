-- Persons drawn at random, and up to five of the rows of each, in an order drawn at random: how many persons have the first
-- so many of these rows. Candidates are sought from the rarest of the first rows on, which bounds what the statement
-- costs: beyond a budget, fewer of the persons count, in the order in which they were drawn.
-- [de Montjoye et al. 2013: unicity]
-- Parameters: :coded          coded.sql
--             :person_place   a random order of persons;  :row_place  of the rows of a person, by person, item, copy
--             :persons        so many persons are drawn
--             :most_copies    of a row of a person
--             :first          so many known rows, at least
--             :candidates     so many are looked at
--             :k              the k of the counts below k
-- Result: own_rows (6: more than 5), person_count, alone1 .. alone5 (persons whom nobody else shares the first so many
--         rows with), rare1 .. rare5 (whom fewer than k persons have them with): a row per number of rows
WITH coded AS (
  SELECT * FROM :coded
), persons AS (
  SELECT person, own_rows, ROW_NUMBER() OVER (ORDER BY :person_place, person) AS turn
  FROM (SELECT person, SUM(copies) AS own_rows FROM coded GROUP BY person) AS each_once
), own AS (
  SELECT
    coded.person,
    item,
    having_it,
    ROW_NUMBER() OVER (PARTITION BY coded.person ORDER BY :row_place, item, copy) AS place
  FROM coded
  JOIN persons ON persons.person = coded.person
  JOIN GENERATE_SERIES(1, :most_copies) AS numbers(copy) ON copy <= copies
  WHERE turn <= :persons
), known AS (
  SELECT person, item, MIN(having_it) AS having_it, MIN(place) AS place
  FROM own
  WHERE place <= 5
  GROUP BY person, item
), relevant AS (
  SELECT person, item FROM coded WHERE item IN (SELECT item FROM known)
), rarest AS (
  SELECT person, item, having_it
  FROM (
    SELECT person, item, having_it, ROW_NUMBER() OVER (PARTITION BY person ORDER BY having_it, item) AS by_rarity
    FROM known
    WHERE place <= :first
  ) AS first_rows
  WHERE by_rarity = 1
), whole AS (
  SELECT COUNT(*) AS drawn, SUM(having_it) AS candidates FROM rarest
), counted AS (
  SELECT rarest.person, item, CASE WHEN own_rows > 5 THEN 6 ELSE own_rows END AS own_rows
  FROM rarest
  JOIN persons ON persons.person = rarest.person
  CROSS JOIN whole
  WHERE turn = 1 OR turn * candidates <= :candidates * drawn
), found AS (
  SELECT
    counted.person,
    candidate.person AS candidate,
    MIN(CASE WHEN same.item IS NULL THEN known.place ELSE 6 END) AS missing
  FROM counted
  JOIN relevant AS candidate ON candidate.item = counted.item
  JOIN known ON known.person = counted.person
  LEFT JOIN relevant AS same ON same.person = candidate.person AND same.item = known.item
  GROUP BY counted.person, candidate.person
), of_persons AS (
  SELECT
    person,
    SUM(CASE WHEN missing > 1 THEN 1 ELSE 0 END) AS having1,
    SUM(CASE WHEN missing > 2 THEN 1 ELSE 0 END) AS having2,
    SUM(CASE WHEN missing > 3 THEN 1 ELSE 0 END) AS having3,
    SUM(CASE WHEN missing > 4 THEN 1 ELSE 0 END) AS having4,
    SUM(CASE WHEN missing > 5 THEN 1 ELSE 0 END) AS having5
  FROM found
  GROUP BY person
)
SELECT
  own_rows,
  COUNT(*) AS person_count,
  SUM(CASE WHEN having1 < 2 THEN 1 ELSE 0 END) AS alone1,
  SUM(CASE WHEN having2 < 2 THEN 1 ELSE 0 END) AS alone2,
  SUM(CASE WHEN having3 < 2 THEN 1 ELSE 0 END) AS alone3,
  SUM(CASE WHEN having4 < 2 THEN 1 ELSE 0 END) AS alone4,
  SUM(CASE WHEN having5 < 2 THEN 1 ELSE 0 END) AS alone5,
  SUM(CASE WHEN having1 < :k THEN 1 ELSE 0 END) AS rare1,
  SUM(CASE WHEN having2 < :k THEN 1 ELSE 0 END) AS rare2,
  SUM(CASE WHEN having3 < :k THEN 1 ELSE 0 END) AS rare3,
  SUM(CASE WHEN having4 < :k THEN 1 ELSE 0 END) AS rare4,
  SUM(CASE WHEN having5 < :k THEN 1 ELSE 0 END) AS rare5
FROM of_persons
JOIN counted ON counted.person = of_persons.person
GROUP BY own_rows
