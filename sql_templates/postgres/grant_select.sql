-- Lets a role read a table.
-- Parameters: :table, :role
GRANT SELECT ON :table TO :role
