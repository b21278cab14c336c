-- Persons who have one or two rows such that all who have them, too, have a value of the sensitive column in common: in
-- any of their rows, as the rows of a person are linked. NULL is a value. [the homogeneity attack of l-diversity]
-- Parameters: :coded      coded.sql
--             :relation   the audited rows, with the sensitive column
--             :sensitive  the sensitive column
--             :entity     the column that identifies persons
-- Result: one row: person_count
WITH coded AS (
  SELECT * FROM :coded
), held AS (
  SELECT :entity AS person, :sensitive AS sensitive_value
  FROM :relation
  WHERE NOT :entity IS NULL
  GROUP BY :entity, :sensitive
), numbered AS (
  SELECT person, DENSE_RANK() OVER (ORDER BY sensitive_value) AS value_number FROM held
), frequent AS (
  SELECT person, item FROM coded WHERE having_it > 1
), pairs AS (
  SELECT one.item AS first_item, other.item AS second_item, COUNT(*) AS having_both
  FROM frequent AS one
  JOIN frequent AS other ON one.person = other.person AND one.item < other.item
  GROUP BY one.item, other.item
), shared AS (
  SELECT one.item AS first_item, other.item AS second_item, value_number, COUNT(*) AS persons
  FROM frequent AS one
  JOIN frequent AS other ON one.person = other.person AND one.item < other.item
  JOIN numbered ON numbered.person = one.person
  GROUP BY one.item, other.item, value_number
), certain_pairs AS (
  SELECT pairs.first_item, pairs.second_item
  FROM pairs
  JOIN shared ON shared.first_item = pairs.first_item AND shared.second_item = pairs.second_item
  GROUP BY pairs.first_item, pairs.second_item
  HAVING MAX(persons) = MAX(having_both)
), certain_items AS (
  SELECT item
  FROM (
    SELECT item, having_it, COUNT(*) AS persons
    FROM coded
    JOIN numbered ON numbered.person = coded.person
    GROUP BY item, having_it, value_number
  ) AS of_values
  GROUP BY item
  HAVING MAX(persons) = MAX(having_it)
)
SELECT COUNT(DISTINCT person) AS person_count
FROM (
  SELECT person FROM coded JOIN certain_items ON certain_items.item = coded.item
  UNION ALL
  SELECT one.person
  FROM frequent AS one
  JOIN frequent AS other ON one.person = other.person AND one.item < other.item
  JOIN certain_pairs ON certain_pairs.first_item = one.item AND certain_pairs.second_item = other.item
) AS certain
