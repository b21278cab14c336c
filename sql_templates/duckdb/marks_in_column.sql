-- The usual marks of missing values in a column of texts, and whether its other texts are numbers.
-- Parameters: :texts   the table
--             :column  the column
--             :marked  whether its text is such a mark
-- Result: one row per mark, and one for all other texts (NULL): mark, times, numbers
SELECT
  CASE WHEN :marked THEN :column END AS mark,
  COUNT(*) AS times,
  BOOL_AND(TRY_CAST(:column AS DOUBLE) IS NOT NULL) AS numbers
FROM :texts
WHERE :column IS NOT NULL
GROUP BY 1
ORDER BY 2 DESC, 1
