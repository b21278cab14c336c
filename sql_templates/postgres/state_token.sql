-- What an answer about a table rests on: two equal states of one server that was not restarted have the same rows, for
-- the same role under the same settings.
-- Parameters: :schema, :relation  the table
-- Result: no row unless the state covers each part of it: the rows of foreign tables are elsewhere, those of unlogged
--         ones vanish in a crash, and those of another access method can lie anywhere; else
--         server_started, database_name, visible, role_name, settings
WITH RECURSIVE parts AS (
  SELECT relation.oid AS oid
  FROM pg_class AS relation
  JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
  WHERE namespace.nspname = :schema AND relation.relname = :relation
  UNION
  SELECT child.inhrelid AS oid FROM parts JOIN pg_inherits AS child ON child.inhparent = parts.oid
)
SELECT
  CAST(pg_postmaster_start_time() AS TEXT) AS server_started,
  current_database() AS database_name,
  CAST(txid_current_snapshot() AS TEXT) AS visible,
  current_user AS role_name,
  (
    SELECT string_agg(concat_ws('=', setting.name, setting.setting), ' ' ORDER BY setting.name)
    FROM pg_settings AS setting
    WHERE setting.context IN ('user', 'superuser')
      AND (setting.category LIKE '%Locale%' OR setting.category LIKE '%Compatibility%')
  ) AS settings
FROM parts
JOIN pg_class AS relation ON relation.oid = parts.oid
LEFT JOIN pg_am AS method ON method.oid = relation.relam
HAVING bool_and(
  relation.relpersistence = 'p'
  AND (relation.relkind = 'p' OR (relation.relkind IN ('r', 'm') AND method.amname = 'heap'))
)
