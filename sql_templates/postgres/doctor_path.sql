-- The roles other than this one and superusers that may create objects in some schemas.
-- Parameters: :schemas  the names of those on the role's search path
-- Result: schema_name, by_everybody (PUBLIC may), role_names (roles that may log in; NULL: none)
SELECT
  namespace.nspname AS schema_name,
  has_schema_privilege('public', namespace.oid, 'CREATE') AS by_everybody,
  string_agg(quote_ident(role.rolname), ', ' ORDER BY role.rolname) AS role_names
FROM pg_namespace AS namespace
LEFT JOIN pg_roles AS role
  ON role.rolcanlogin
  AND NOT role.rolsuper
  AND role.rolname <> current_user
  AND has_schema_privilege(role.oid, namespace.oid, 'CREATE')
WHERE namespace.nspname IN (:schemas)
GROUP BY namespace.oid, namespace.nspname
ORDER BY schema_name
