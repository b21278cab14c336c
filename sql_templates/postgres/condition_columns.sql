-- The columns of a table by which a condition would call operators, functions or casts that are not Postgres' own: those
-- of extensions (citext, hstore) or of whoever made the type. The system's search path does not find these operators,
-- and may find others in their place; casts it finds always, implicit ones too.
-- Parameters: :schema, :table  names as text
-- Result: column_name, data_type, castable (no cast of its type, or of a type inside it, is a function of others)
WITH RECURSIVE parts AS (
  SELECT attribute.attrelid AS oid, attribute.attnum AS place, attribute.atttypid AS type_oid, FALSE AS field
  FROM pg_attribute AS attribute
  JOIN pg_class AS relation ON relation.oid = attribute.attrelid
  JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
  WHERE namespace.nspname = :schema
    AND relation.relname = :table
    AND attribute.attnum > 0
    AND NOT attribute.attisdropped
  UNION
  SELECT whole.oid, whole.place, part.oid AS type_oid, whole.field OR type.typtype = 'c' AS field
  FROM parts AS whole
  JOIN pg_type AS type ON type.oid = whole.type_oid
  JOIN pg_type AS part
    ON part.oid IN (type.typbasetype, type.typelem)
    OR part.oid IN (SELECT rngsubtype FROM pg_range WHERE rngtypid = type.oid)
    OR part.oid IN (SELECT atttypid FROM pg_attribute WHERE type.typrelid <> 0 AND attrelid = type.typrelid AND attnum > 0)
), judged AS (
  SELECT
    parts.oid,
    parts.place,
    bool_or(NOT parts.field AND EXISTS (
      SELECT 1 FROM pg_operator AS operator WHERE type.oid IN (operator.oprleft, operator.oprright)
    )) AS operated,
    bool_or(EXISTS (
      SELECT 1
      FROM pg_cast AS by_function
      JOIN pg_type AS target ON target.oid = by_function.casttarget
      WHERE by_function.castsource = type.oid
        AND by_function.castmethod = 'f'
        AND target.typtype <> 'm'
    )) AS cast_by_others
  FROM parts
  JOIN pg_type AS type ON type.oid = parts.type_oid
  WHERE type.oid >= 16384 -- not Postgres' own
  GROUP BY parts.oid, parts.place
)
SELECT
  CAST(attribute.attname AS TEXT) AS column_name,
  format_type(attribute.atttypid, attribute.atttypmod) AS data_type,
  NOT judged.cast_by_others AS castable
FROM judged
JOIN pg_attribute AS attribute ON attribute.attrelid = judged.oid AND attribute.attnum = judged.place
WHERE judged.operated OR judged.cast_by_others
ORDER BY attribute.attnum
