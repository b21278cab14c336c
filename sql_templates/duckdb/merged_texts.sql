-- What a type would do to a column of texts: how many of its values stand for several texts, or for none of the type.
-- Parameters: :texts   the table
--             :column  the column
--             :value   text_value as a value of the type, NULL where it is none
-- Result: one row: merged; 0 when the type tells apart all that the texts do
SELECT COUNT(*) AS merged
FROM (
  SELECT :value AS typed_value
  FROM (SELECT DISTINCT :column AS text_value FROM :texts) AS texts
  WHERE text_value IS NOT NULL
  GROUP BY :value
  HAVING COUNT(*) > 1 OR MAX(:value) IS NULL
) AS merged_values
