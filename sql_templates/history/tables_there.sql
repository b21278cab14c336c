-- The tables of the history that are there, as far as this user may use them.
-- Parameters: :schema
-- Result: table_name
SELECT table_name FROM information_schema.tables WHERE table_schema = :schema
