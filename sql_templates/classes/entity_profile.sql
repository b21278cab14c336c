-- Class profile that counts distinct entities (persons) instead of rows: one person's repeated rows count once.
-- A class's size is its number of distinct entities; an entity is below k if its smallest class is below k.
-- A NULL entity counts as one entity of its own.
-- Parameters: :set_number  integer, returned unchanged
--             :relation    the audited rows
--             :columns     the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :entity      the column that identifies entities
--             :k           the k of the counts below k
-- Result: one row: set_number, class_count, entity_count, smallest_class, largest_class, classes_below_k,
--         entities_below_k, unique_entities, colliding_pairs (sum of c * (c - 1)). WIDE is replaced by an integer type
--         of the engine that can hold the square of a row count.
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
  SELECT MIN(class_size) AS smallest_class
  FROM sized
  GROUP BY entity
), per_entity AS (
  SELECT
    COUNT(*) AS entity_count,
    SUM(CASE WHEN smallest_class < :k THEN 1 ELSE 0 END) AS entities_below_k,
    SUM(CASE WHEN smallest_class = 1 THEN 1 ELSE 0 END) AS unique_entities
  FROM entities
), per_class AS (
  SELECT
    COUNT(*) AS class_count,
    MIN(class_size) AS smallest_class,
    MAX(class_size) AS largest_class,
    SUM(CASE WHEN class_size < :k THEN 1 ELSE 0 END) AS classes_below_k,
    SUM(CAST(class_size AS WIDE) * (class_size - 1)) AS colliding_pairs
  FROM sized
  WHERE place = 1
)
SELECT
  :set_number AS set_number,
  class_count,
  entity_count,
  smallest_class,
  largest_class,
  classes_below_k,
  entities_below_k,
  unique_entities,
  colliding_pairs
FROM per_class
CROSS JOIN per_entity
