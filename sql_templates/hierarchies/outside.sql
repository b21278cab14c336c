-- How many values of a column have no line in the file of its hierarchy.
-- Parameters: :place  the column's number;  :text  the column as text;  :table, :condition  the audited rows
--             :labelled  the lines of the file
-- Result: place, missing
SELECT :place AS place, COUNT(*) AS missing
FROM (SELECT DISTINCT :text AS value_text FROM :table WHERE :condition) AS found
LEFT JOIN :labelled ON value_text = l0
WHERE value_text IS NOT NULL AND l0 IS NULL
