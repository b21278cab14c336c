-- Lets a role read the published columns of the table itself.
-- Parameters: :table, :role;  :columns  the published columns
GRANT SELECT (:columns) ON :table TO :role
