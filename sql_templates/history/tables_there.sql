-- The existing tables and views of the history that this user may use.
-- Parameters: :schema
-- Result: table_name, is_table
SELECT table_name, table_type = 'BASE TABLE' AS is_table FROM information_schema.tables WHERE table_schema = :schema
