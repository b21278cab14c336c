-- The existing tables of the history that this user may use.
-- Parameters: :schema
-- Result: table_name
SELECT table_name FROM information_schema.tables WHERE table_schema = :schema
