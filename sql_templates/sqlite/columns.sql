-- Columns of one table or view, in their order; hidden columns of virtual tables are left out.
-- Parameters: :table  its name
-- Result: column_name, declared type (may be empty), whether it is NOT NULL, whether any table's
--         definition contains a collation, whether whole numbers keep their form (1 beside 1.0: in columns without an
--         affinity, and in those of views, which can be made of several)
SELECT
  name,
  type,
  "notnull",
  EXISTS (SELECT 1 FROM sqlite_schema WHERE LOWER(sql) GLOB '*collate*') AS collated,
  CASE
    WHEN UPPER(type) GLOB '*CHAR*' OR UPPER(type) GLOB '*TEXT*' OR UPPER(type) GLOB '*CLOB*' THEN 0
    WHEN UPPER(type) IN ('', 'ANY') OR (UPPER(type) GLOB '*BLOB*' AND NOT UPPER(type) GLOB '*INT*') THEN 1
    ELSE EXISTS (SELECT 1 FROM sqlite_schema AS listed WHERE listed.type = 'view' AND listed.name = :table)
  END AS keeps_forms
FROM PRAGMA_TABLE_XINFO(:table, 'main')
WHERE hidden <> 1
