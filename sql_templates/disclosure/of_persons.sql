-- The classes of each entity (person), and how many different values a class holds by persons: 1 if all its persons have
-- some value in common, which is known of each then; else the values that are somebody's only one, and at least 2. With
-- a row per person these are the different values. A person has the values of all their rows in the table, not of those
-- in the class alone: else a further column could hide that all have one. NULL is a value, and an entity, like any other.
-- Parameters: :relation  the audited rows, with the sensitive column
--             :columns   the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :sensitive the sensitive column
--             :entity    the column that identifies entities
-- Result: class_number, person, class_size (persons), class_values, only_if_stated (1 if a class of one value has NULL
--         in common and nothing else, and if that of several has but one where all who state any are alike; else 0),
--         table_values (the table's greatest number of a value that the class has): a row per class and person
WITH members AS (
  SELECT :aliased, :sensitive AS sensitive_value, :entity AS entity
  FROM :relation
  GROUP BY :columns, :sensitive, :entity
), numbered AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY :names) AS class_number,
    DENSE_RANK() OVER (ORDER BY entity) AS person,
    DENSE_RANK() OVER (ORDER BY sensitive_value) AS value_number,
    CASE WHEN sensitive_value IS NULL THEN 0 ELSE 1 END AS stated
  FROM members
), belonging AS (
  SELECT class_number, person
  FROM numbered
  GROUP BY class_number, person
), held AS (
  SELECT person, value_number, stated, COUNT(*) OVER (PARTITION BY person) AS own_values
  FROM (
    SELECT person, value_number, MAX(stated) AS stated
    FROM numbered
    GROUP BY person, value_number
  ) AS each_once
), sizes AS (
  SELECT class_number, COUNT(*) AS class_size
  FROM belonging
  GROUP BY class_number
), shared AS (
  SELECT
    belonging.class_number,
    value_number,
    MAX(stated) AS stated,
    COUNT(*) AS persons,
    SUM(CASE WHEN own_values = 1 THEN 1 ELSE 0 END) AS persons_of_no_other
  FROM belonging
  JOIN held ON held.person = belonging.person
  GROUP BY belonging.class_number, value_number
), classes AS (
  SELECT
    sizes.class_number,
    MAX(class_size) AS class_size,
    MAX(persons) AS commonest,
    MAX(CASE WHEN stated = 1 THEN persons ELSE 0 END) AS commonest_stated,
    SUM(CASE WHEN stated = 0 THEN persons_of_no_other ELSE 0 END) AS stating_nothing,
    SUM(CASE WHEN persons_of_no_other > 0 THEN 1 ELSE 0 END) AS only_values,
    MAX(value_number) AS table_values
  FROM sizes
  JOIN shared ON shared.class_number = sizes.class_number
  GROUP BY sizes.class_number
)
SELECT
  belonging.class_number,
  person,
  class_size,
  CASE WHEN commonest = class_size THEN 1 WHEN only_values > 2 THEN only_values ELSE 2 END AS class_values,
  CASE
    WHEN commonest_stated = class_size THEN 0
    WHEN commonest = class_size OR commonest_stated = class_size - stating_nothing THEN 1
    ELSE 0
  END AS only_if_stated,
  table_values
FROM belonging
JOIN classes ON classes.class_number = belonging.class_number
