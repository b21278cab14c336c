-- Takes the whole table from a role: with it, a grant of columns would change nothing.
-- Parameters: :table, :role
REVOKE SELECT ON :table FROM :role
