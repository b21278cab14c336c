-- The persons who are in the last release and in an earlier one, by how many values of a sensitive column all of them say
-- that they can have: those that are in their class of each. Whoever's value changed may be left without any.
-- Parameters: :rows     the rows of all: key_value, release_number (0: the last one), class_text, sensitive_text
--             :classes  the class in each release AS r0, r1, ...; NULL where the person is not;  :names  r0, r1, ...
--             :least    the fewest different values
-- Result: person_count, few (persons left with fewer, but at least one), certain (with one)
WITH keyed AS (
  SELECT * FROM :rows
), persons AS (
  SELECT key_value, COUNT(*) AS release_count, :classes
  FROM keyed
  GROUP BY key_value
), joint AS (  -- of the persons with the same class in each, one
  SELECT MIN(key_value) AS one_key, release_count, COUNT(*) AS class_size
  FROM persons
  WHERE NOT r0 IS NULL AND release_count > 1
  GROUP BY release_count, :names
), class_values AS (
  SELECT release_number, class_text, sensitive_text
  FROM keyed
  GROUP BY release_number, class_text, sensitive_text
), possible AS (  -- in every release of the person
  SELECT joint.one_key, class_values.sensitive_text
  FROM joint
  JOIN keyed ON keyed.key_value = joint.one_key
  JOIN class_values ON class_values.release_number = keyed.release_number AND class_values.class_text = keyed.class_text
  GROUP BY joint.one_key, joint.release_count, class_values.sensitive_text
  HAVING COUNT(*) = joint.release_count
), left_over AS (
  SELECT one_key, COUNT(*) AS value_count FROM possible GROUP BY one_key
)
SELECT
  COALESCE(SUM(class_size), 0) AS person_count,
  COALESCE(SUM(CASE WHEN value_count < :least THEN class_size ELSE 0 END), 0) AS few,
  COALESCE(SUM(CASE WHEN value_count = 1 THEN class_size ELSE 0 END), 0) AS certain
FROM joint
LEFT JOIN left_over ON left_over.one_key = joint.one_key
