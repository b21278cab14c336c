-- The persons who are in two releases, by how many values of a sensitive column both say that they can have: those that
-- are in their class of each. Whoever's value changed may be left without any.
-- Parameters: :earlier, :later  the rows of the two releases: key_value, class_text, sensitive_text
--             :least            the fewest different values
-- Result: joint_rows, few (rows of persons left with fewer, but at least one), certain (with one)
WITH people AS (
  SELECT earlier.class_text AS earlier_class, later.class_text AS later_class, COUNT(*) AS class_size
  FROM :earlier
  JOIN :later ON earlier.key_value = later.key_value
  GROUP BY earlier.class_text, later.class_text
), earlier_values AS (
  SELECT class_text, sensitive_text FROM :earlier GROUP BY class_text, sensitive_text
), later_values AS (
  SELECT class_text, sensitive_text FROM :later GROUP BY class_text, sensitive_text
), possible AS (
  SELECT people.earlier_class, people.later_class, COUNT(*) AS value_count
  FROM people
  JOIN earlier_values ON earlier_values.class_text = people.earlier_class
  JOIN later_values
    ON later_values.class_text = people.later_class AND later_values.sensitive_text = earlier_values.sensitive_text
  GROUP BY people.earlier_class, people.later_class
)
SELECT
  COALESCE(SUM(class_size), 0) AS joint_rows,
  COALESCE(SUM(CASE WHEN value_count < :least THEN class_size ELSE 0 END), 0) AS few,
  COALESCE(SUM(CASE WHEN value_count = 1 THEN class_size ELSE 0 END), 0) AS certain
FROM people
LEFT JOIN possible
  ON possible.earlier_class = people.earlier_class AND possible.later_class = people.later_class
