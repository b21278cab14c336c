-- The columns of a table whose types have operators from outside the system schema (extensions such as citext or
-- hstore, or users' own). The system's search path does not find these operators, and may find others in their place.
-- Parameters: :schema, :table  names as text
-- Result: column_name, data_type
WITH RECURSIVE parts AS (
  SELECT attribute.attrelid AS oid, attribute.attnum AS place, attribute.atttypid AS type_oid
  FROM pg_attribute AS attribute
  JOIN pg_class AS relation ON relation.oid = attribute.attrelid
  JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
  WHERE namespace.nspname = :schema
    AND relation.relname = :table
    AND attribute.attnum > 0
    AND NOT attribute.attisdropped
  UNION
  SELECT whole.oid, whole.place, part.oid AS type_oid
  FROM parts AS whole
  JOIN pg_type AS type ON type.oid = whole.type_oid
  JOIN pg_type AS part ON part.oid IN (type.typbasetype, type.typelem)
)
SELECT
  CAST(attribute.attname AS TEXT) AS column_name,
  format_type(attribute.atttypid, attribute.atttypmod) AS data_type
FROM pg_attribute AS attribute
WHERE (attribute.attrelid, attribute.attnum) IN (
  SELECT parts.oid, parts.place
  FROM parts
  JOIN pg_type AS type ON type.oid = parts.type_oid
  JOIN pg_namespace AS namespace ON namespace.oid = type.typnamespace
  WHERE namespace.nspname <> 'pg_catalog'
    AND EXISTS (SELECT 1 FROM pg_operator AS operator WHERE type.oid IN (operator.oprleft, operator.oprright))
)
ORDER BY attribute.attnum
