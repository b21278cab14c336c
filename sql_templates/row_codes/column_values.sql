-- The values of one column as text, with their codes in row_patterns.sql. Run only if the user requested values.
-- Parameters: :number      the column's number;  :column  the column
--             :relation    the audited rows
--             :dictionary  dictionary.sql of v0
-- Result: one row per value: place, code, value_text
WITH classes AS (SELECT :column AS v0 FROM :relation)
SELECT :number AS place, place AS code, CAST(value AS VARCHAR) AS value_text
FROM :dictionary
