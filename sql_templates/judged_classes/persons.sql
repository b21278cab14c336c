-- The classes of persons by the values that they have in common. Parameters: :persons  disclosure/of_persons.sql
--             :least  classes of fewer different values exceed the limit
-- Result: one row per class: class_size (persons, each of whom has a row in it), exceeds (1 or 0)
SELECT MAX(class_size) AS class_size, CASE WHEN MAX(class_values) < :least THEN 1 ELSE 0 END AS exceeds
FROM :persons
GROUP BY class_number
