-- The same for distinct entities (persons), who may have several rows: the class of a person that holds the fewest
-- different values of the sensitive column counts. There is no guess: a person may hold several values.
-- Parameters: :persons  of_persons.sql
-- Result: values_and_null (twice the number of different values of a person's class, plus 1 if that is but one stated
--         value less; the least of all classes of the person), entity_count, table_values
WITH entities AS (
  SELECT MIN(2 * class_values + only_if_stated) AS values_and_null, MAX(table_values) AS table_values
  FROM :persons
  GROUP BY person
)
SELECT values_and_null, COUNT(*) AS entity_count, MAX(table_values) AS table_values
FROM entities
GROUP BY values_and_null
