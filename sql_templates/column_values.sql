-- The values of one column as text, with the codes that row_patterns.sql gives them. Only for who asked for values.
-- Parameters: :number    the column's number;  :column  the column
--             :relation  the audited rows
-- Result: one row per value: place, code, value_text
SELECT :number AS place, ROW_NUMBER() OVER (ORDER BY value) AS code, CAST(value AS VARCHAR) AS value_text
FROM (SELECT DISTINCT :column AS value FROM :relation WHERE :column IS NOT NULL) AS domain
