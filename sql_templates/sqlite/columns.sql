-- Columns of one table or view, in their order; hidden ones of virtual tables are left out.
-- Parameters: :table  its name
-- Result: column_name, declared type (may be empty), whether a NULL is refused, whether a collation is named anywhere
SELECT name, type, "notnull", EXISTS (SELECT 1 FROM sqlite_schema WHERE LOWER(sql) GLOB '*collate*') AS collated
FROM PRAGMA_TABLE_XINFO(:table, 'main')
WHERE hidden <> 1
