-- Tables and views of the database.
-- Result: table_name, kind, whether its rows have numbers
SELECT name, CASE type WHEN 'view' THEN 'view' ELSE 'table' END AS kind, type = 'table' AND NOT wr AS numbered
FROM pragma_table_list
WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND NOT name GLOB 'sqlite_*'
ORDER BY name
