-- Columns of some tables, in their order.
-- Parameters: :oids  the tables
-- Result: column_name, data_type, is_nullable, readable (this role may SELECT it),
--         comparison: text   the equality of the type, or of a type inside it, merges values that a reader can
--                            distinguish (citext; interval: 1 month is 30 days), fails only at run time (composites),
--                            has no hash, which samples of whole classes need (bit, money, tsvector; their texts are
--                            equal if they are), or belongs to an extension, which the search path does not find
--                            (hstore, ltree), or a type inside it is compared by an operator class outside
--                            pg_catalog, whose equality can be anything, or numbers without a fixed scale are in it
--                            (jsonb, numeric[]: 70 equals 70.00)
--                     digits numbers without a fixed scale
--                     padded texts without a fixed length, whose type ignores trailing blanks
--                     bytes  a collation of the type merges texts that differ
--                     value  the type's own equality, if it has one (see postgres/groupable.sql)
--         oid, base_type (the base type of a domain; enum for all enums)
-- The parts of a type: a domain's base, an array's elements, a range's bounds.
WITH RECURSIVE parts AS (
  SELECT
    attribute.attrelid AS oid,
    attribute.attnum AS place,
    attribute.atttypid AS type_oid,
    attribute.attcollation AS collation_oid,
    attribute.atttypmod AS modifier,
    FALSE AS nested
  FROM pg_attribute AS attribute
  WHERE attribute.attrelid IN (:oids)
    AND attribute.attnum > 0
    AND NOT attribute.attisdropped
  UNION
  SELECT
    whole.oid,
    whole.place,
    part.type_oid,
    part.collation_oid,
    COALESCE(part.modifier, whole.modifier) AS modifier,
    whole.nested OR part.nested AS nested
  FROM parts AS whole
  JOIN (
    SELECT
      domain.oid AS whole_oid,
      domain.typbasetype AS type_oid,
      domain.typcollation AS collation_oid,
      domain.typtypmod AS modifier,
      FALSE AS nested
    FROM pg_type AS domain
    WHERE domain.typtype = 'd'
    UNION ALL
    SELECT
      list.oid AS whole_oid,
      list.typelem AS type_oid,
      list.typcollation AS collation_oid,
      NULL AS modifier, -- that of the whole
      TRUE AS nested
    FROM pg_type AS list
    WHERE list.typelem <> 0
    UNION ALL
    SELECT
      bounds.rngtypid AS whole_oid,
      bounds.rngsubtype AS type_oid,
      bounds.rngcollation AS collation_oid,
      -1 AS modifier,
      TRUE AS nested
    FROM pg_range AS bounds
  ) AS part ON part.whole_oid = whole.type_oid
), foreign_equality AS (
  SELECT class.opcintype AS type_oid
  FROM pg_opclass AS class
  JOIN pg_am AS method ON method.oid = class.opcmethod
  JOIN pg_namespace AS namespace ON namespace.oid = class.opcnamespace
  WHERE class.opcdefault AND method.amname IN ('btree', 'hash') AND namespace.nspname <> 'pg_catalog'
  UNION
  SELECT bounds.rngtypid AS type_oid
  FROM pg_range AS bounds
  JOIN pg_opclass AS class ON class.oid = bounds.rngsubopc
  JOIN pg_namespace AS namespace ON namespace.oid = class.opcnamespace
  WHERE namespace.nspname <> 'pg_catalog'
), judged AS (
  SELECT
    parts.oid,
    parts.place,
    bool_or(
      type.typname IN ('citext', 'interval', 'jsonb', 'bit', 'money', 'tsquery', 'tsvector', 'varbit')
      OR type.typtype IN ('c', 'm')
      OR (type.typtype = 'b' AND type.typelem = 0 AND namespace.nspname <> 'pg_catalog')
      OR (parts.nested AND parts.modifier < 0 AND type.typname IN ('numeric', 'bpchar'))
      OR EXISTS (SELECT 1 FROM foreign_equality WHERE foreign_equality.type_oid = type.oid)
    ) AS by_text,
    bool_or(parts.modifier < 0 AND type.typname = 'numeric') AS by_digits,
    bool_or(parts.modifier < 0 AND type.typname = 'bpchar') AS with_padding,
    bool_or(NOT collation_of.collisdeterministic) AS by_bytes
  FROM parts
  JOIN pg_type AS type ON type.oid = parts.type_oid
  JOIN pg_namespace AS namespace ON namespace.oid = type.typnamespace
  LEFT JOIN pg_collation AS collation_of ON collation_of.oid = parts.collation_oid
  GROUP BY parts.oid, parts.place
)
SELECT
  attribute.attname AS column_name,
  format_type(attribute.atttypid, attribute.atttypmod) AS data_type,
  NOT attribute.attnotnull AS is_nullable,
  has_column_privilege(attribute.attrelid, attribute.attnum, 'SELECT') AS readable,
  CASE
    WHEN judged.by_text THEN 'text'
    WHEN judged.with_padding THEN 'padded'
    WHEN judged.by_bytes THEN 'bytes'
    WHEN judged.by_digits THEN 'digits'
    ELSE 'value'
  END AS comparison,
  CAST(judged.oid AS BIGINT) AS oid,
  CASE own_type.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN (
    WITH RECURSIVE chain AS (
      SELECT own_type.oid AS oid, own_type.typbasetype AS typbasetype, own_type.typtype AS typtype
      UNION ALL
      SELECT base.oid, base.typbasetype, base.typtype
      FROM chain
      JOIN pg_type AS base ON base.oid = chain.typbasetype
    )
    SELECT CASE WHEN chain.typtype = 'e' THEN 'enum' ELSE format_type(chain.oid, NULL) END
    FROM chain
    WHERE chain.typbasetype = 0
  ) ELSE format_type(own_type.oid, NULL) END AS base_type
FROM judged
JOIN pg_attribute AS attribute ON attribute.attrelid = judged.oid AND attribute.attnum = judged.place
JOIN pg_type AS own_type ON own_type.oid = attribute.atttypid
ORDER BY judged.oid, attribute.attnum
