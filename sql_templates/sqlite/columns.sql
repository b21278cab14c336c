-- Columns of one table or view, in their order; hidden columns of virtual tables are left out.
-- Parameters: :table  its name
-- Result: column_name, declared type (may be empty), whether it is NOT NULL, whether any table's
--         definition contains a collation
SELECT name, type, "notnull", EXISTS (SELECT 1 FROM sqlite_schema WHERE LOWER(sql) GLOB '*collate*') AS collated
FROM PRAGMA_TABLE_XINFO(:table, 'main')
WHERE hidden <> 1
