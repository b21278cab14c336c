-- Class sizes that count distinct entities: the number of classes with each number of entities, and the number of
-- entities whose smallest class has that size.
-- Parameters: :relation, :columns, :aliased, :names, :entity  as in entity_profile.sql
-- Result: one row per size: class_size, class_count, entity_count
WITH members AS (
  SELECT :aliased, :entity AS entity
  FROM :relation
  GROUP BY :columns, :entity
), sized AS (
  SELECT
    entity,
    COUNT(*) OVER (PARTITION BY :names) AS class_size,
    ROW_NUMBER() OVER (PARTITION BY :names ORDER BY entity) AS place
  FROM members
), entities AS (
  SELECT MIN(class_size) AS class_size
  FROM sized
  GROUP BY entity
), counted AS (
  SELECT class_size, COUNT(*) AS class_count, 0 AS entity_count
  FROM sized
  WHERE place = 1
  GROUP BY class_size
  UNION ALL
  SELECT class_size, 0 AS class_count, COUNT(*) AS entity_count
  FROM entities
  GROUP BY class_size
)
SELECT
  class_size,
  SUM(class_count) AS class_count,
  SUM(entity_count) AS entity_count
FROM counted
GROUP BY class_size
