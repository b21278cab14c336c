-- The list of minimal unsafe combinations: a line for every row that one belongs to where keys are known, else one for
-- every row pattern. Records are numbered from 1. The lines are in no order: millions of them are not held to be sorted.
-- Parameters: :columns  record, rows, key, size, columns, values: those wanted
-- Result: one row per line: record, and the columns wanted
WITH sets AS (
  SELECT
    set_number,
    COUNT(column_names.name) AS size,
    COALESCE(LIST(column_names.name ORDER BY place) FILTER (WHERE NOT column_names.name IS NULL), []) AS columns
  FROM set_columns
  LEFT JOIN column_names USING (place)
  GROUP BY set_number
)
SELECT uniques.pattern + 1 AS record, :columns
FROM uniques
JOIN patterns ON patterns.pattern = uniques.pattern
JOIN sets ON sets.set_number = uniques.set_number
