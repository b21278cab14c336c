-- Lets a role look into a schema.
-- Parameters: :schema, :role
GRANT USAGE ON SCHEMA :schema TO :role
