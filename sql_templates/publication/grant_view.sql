-- Lets a role read the published view.
-- Parameters: :view, :role
GRANT SELECT ON :view TO :role
