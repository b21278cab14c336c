-- The schema of a store.
-- Parameters: :schema
CREATE SCHEMA :schema
