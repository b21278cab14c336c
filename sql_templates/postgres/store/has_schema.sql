-- Is there a store yet?
-- Parameters: :schema
-- Result: a row where the schema is there
SELECT 1 FROM pg_namespace WHERE nspname = :schema
