-- The values of one minimal unsafe combination, in the order of its columns, inside list_uniques.sql.
-- Result: one value: the list of texts
SELECT LIST(cells.value_text ORDER BY cells.place)
FROM set_columns
JOIN cells ON cells.place = set_columns.place
WHERE set_columns.set_number = uniques.set_number AND cells.pattern = uniques.pattern
