-- As exceeding.sql with few_values.sql, for distinct entities (persons), who may have several rows and several values.
-- An entity is in a class that exceeds the limit if any of its classes does.
-- Parameters: :set_number, :relation, :columns, :aliased, :sensitive  as in exceeding.sql
--             :names   c0, c1, ...
--             :entity  the column that identifies entities
--             :least   classes of fewer different values exceed the limit
-- Result: one row per number of entities: class_size, class_count (classes of so many entities), entity_count (entities
--         whose smallest class has that size), exceeding (classes), exceeding_entities, worst (10^18 / the fewest values)
WITH members AS (
  SELECT :aliased, :sensitive AS sensitive_value, :entity AS entity
  FROM :relation
  GROUP BY :columns, :sensitive, :entity
), numbered AS (
  SELECT
    members.*,
    ROW_NUMBER() OVER (PARTITION BY :names, sensitive_value ORDER BY entity) AS place_of_value,
    ROW_NUMBER() OVER (PARTITION BY :names, entity ORDER BY sensitive_value) AS place_of_entity,
    ROW_NUMBER() OVER (PARTITION BY :names ORDER BY entity, sensitive_value) AS place
  FROM members
), counted AS (
  SELECT
    entity,
    place,
    SUM(CASE WHEN place_of_entity = 1 THEN 1 ELSE 0 END) OVER (PARTITION BY :names) AS class_size,
    SUM(CASE WHEN place_of_value = 1 THEN 1 ELSE 0 END) OVER (PARTITION BY :names) AS class_values
  FROM numbered
), entities AS (
  SELECT MIN(class_size) AS class_size, MIN(class_values) AS class_values
  FROM counted
  GROUP BY entity
), parts AS (
  SELECT
    class_size,
    1 AS class_count,
    0 AS entity_count,
    CASE WHEN class_values < :least THEN 1 ELSE 0 END AS exceeding,
    0 AS exceeding_entities,
    class_values
  FROM counted
  WHERE place = 1
  UNION ALL
  SELECT
    class_size,
    0 AS class_count,
    1 AS entity_count,
    0 AS exceeding,
    CASE WHEN class_values < :least THEN 1 ELSE 0 END AS exceeding_entities,
    class_values
  FROM entities
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
