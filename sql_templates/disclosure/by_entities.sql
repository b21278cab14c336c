-- The same for distinct entities (persons), who may have several rows: the class of a person that holds the fewest
-- different values of the sensitive column counts. There is no guess: a person may hold several values.
-- Parameters: :relation  the audited rows, with the sensitive column
--             :columns   the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :sensitive the sensitive column
--             :entity    the column that identifies entities
-- Result: values_and_null (twice the number of different values of a person's class, plus 1 if NULL is one of them;
--         the least of all classes of the person), entity_count, table_values
WITH members AS (
  SELECT :aliased, :sensitive AS sensitive_value, :entity AS entity
  FROM :relation
  GROUP BY :columns, :sensitive, :entity
), numbered AS (
  SELECT
    members.*,
    ROW_NUMBER() OVER (PARTITION BY :names, sensitive_value ORDER BY entity) AS place,
    ROW_NUMBER() OVER (PARTITION BY sensitive_value ORDER BY entity) AS place_in_table
  FROM members
), counted AS (
  SELECT
    entity,
    SUM(CASE WHEN place = 1 THEN 1 ELSE 0 END) OVER (PARTITION BY :names) AS class_values,
    SUM(CASE WHEN place = 1 AND sensitive_value IS NOT NULL THEN 1 ELSE 0 END) OVER (
      PARTITION BY :names
    ) AS stated_values,
    SUM(CASE WHEN place_in_table = 1 THEN 1 ELSE 0 END) OVER () AS table_values
  FROM numbered
), entities AS (
  SELECT
    MIN(2 * class_values + CASE WHEN stated_values < class_values THEN 1 ELSE 0 END) AS values_and_null,
    MIN(table_values) AS table_values
  FROM counted
  GROUP BY entity
)
SELECT values_and_null, COUNT(*) AS entity_count, MAX(table_values) AS table_values
FROM entities
GROUP BY values_and_null
