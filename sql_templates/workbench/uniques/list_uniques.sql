-- The list of minimal unsafe combinations: one line for each row of a combination if keys are known, else one for each
-- row pattern. Records are numbered from 1. The lines are not ordered: millions of them are not kept in memory for
-- sorting.
-- Parameters: :columns  record, rows, key, size, columns, values: the requested ones
-- Result: one row per line: record, and the requested columns
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
