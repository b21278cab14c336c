-- The loss from converting a column of texts to a type: the number of distinct values that several texts convert to,
-- plus 1 if some text does not convert.
-- Parameters: :texts   the table
--             :column  the column
--             :value   text_value converted to the type, NULL if it does not convert
-- Result: one row: merged; 0 if all distinct texts convert to distinct values
SELECT COUNT(*) AS merged
FROM (
  SELECT :value AS typed_value
  FROM (SELECT DISTINCT :column AS text_value FROM :texts) AS texts
  WHERE text_value IS NOT NULL
  GROUP BY :value
  HAVING COUNT(*) > 1 OR MAX(:value) IS NULL
) AS merged_values
