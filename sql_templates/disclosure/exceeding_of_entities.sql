-- As exceeding.sql with few_values.sql, for distinct entities (persons), who may have several rows and several values.
-- An entity is in a class that exceeds the limit if any of its classes does.
-- Parameters: :set_number  as in exceeding.sql
--             :persons     of_persons.sql
--             :least       classes of fewer different values exceed the limit
-- Result: one row per number of entities: class_size, class_count (classes of so many entities), entity_count (entities
--         whose smallest class has that size), exceeding (classes), exceeding_entities, worst (10^18 / the fewest values)
WITH counted AS (
  SELECT class_number, person, class_size, class_values
  FROM :persons
), parts AS (
  SELECT
    MAX(class_size) AS class_size,
    1 AS class_count,
    0 AS entity_count,
    CASE WHEN MAX(class_values) < :least THEN 1 ELSE 0 END AS exceeding,
    0 AS exceeding_entities,
    MAX(class_values) AS class_values
  FROM counted
  GROUP BY class_number
  UNION ALL
  SELECT
    MIN(class_size) AS class_size,
    0 AS class_count,
    1 AS entity_count,
    0 AS exceeding,
    CASE WHEN MIN(class_values) < :least THEN 1 ELSE 0 END AS exceeding_entities,
    MIN(class_values) AS class_values
  FROM counted
  GROUP BY person
)
SELECT
  :set_number AS set_number,
  class_size,
  SUM(class_count) AS class_count,
  SUM(entity_count) AS entity_count,
  SUM(exceeding) AS exceeding,
  SUM(exceeding_entities) AS exceeding_entities,
  CAST(FLOOR(CAST(1000000000000000000 AS DOUBLE) / MIN(class_values) + 0.5) AS BIGINT) AS worst
FROM parts
GROUP BY class_size
