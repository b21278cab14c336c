-- Columns of some tables, in their order.
-- Parameters: :oids  the tables
-- Result: column_name, data_type, is_nullable, readable (this role may SELECT it),
--         comparison: text   the equality of the type, or of a type inside it, merges values that a reader can
--                            distinguish (citext; interval: 1 month is 30 days), fails only at run time (composites),
--                            has no hash, which samples of whole classes need (bit, money, tsvector; their texts are
--                            equal if they are), or belongs to an extension, which the search path does not find
--                            (hstore, ltree)
--                     bytes  a collation of the type merges texts that differ
--                     value  the type's own equality, if it has one (see postgres/groupable.sql)
--         oid, base_type (the base type of a domain; enum for all enums)
-- The parts of a type: a domain's base, an array's elements, a range's bounds.
WITH RECURSIVE parts AS (
  SELECT
    attribute.attrelid AS oid,
    attribute.attnum AS place,
    attribute.atttypid AS type_oid,
    attribute.attcollation AS collation_oid
  FROM pg_attribute AS attribute
  WHERE attribute.attrelid IN (:oids)
    AND attribute.attnum > 0
    AND NOT attribute.attisdropped
  UNION
  SELECT
    whole.oid,
    whole.place,
    part.type_oid,
    part.collation_oid
  FROM parts AS whole
  JOIN (
    SELECT domain.oid AS whole_oid, domain.typbasetype AS type_oid, domain.typcollation AS collation_oid
    FROM pg_type AS domain
    WHERE domain.typtype = 'd'
    UNION ALL
    SELECT list.oid AS whole_oid, list.typelem AS type_oid, list.typcollation AS collation_oid
    FROM pg_type AS list
    WHERE list.typelem <> 0
    UNION ALL
    SELECT bounds.rngtypid AS whole_oid, bounds.rngsubtype AS type_oid, bounds.rngcollation AS collation_oid
    FROM pg_range AS bounds
  ) AS part ON part.whole_oid = whole.type_oid
), judged AS (
  SELECT
    parts.oid,
    parts.place,
    bool_or(
      type.typname IN ('citext', 'interval', 'bit', 'money', 'tsquery', 'tsvector', 'varbit')
      OR type.typtype IN ('c', 'm')
      OR (type.typtype = 'b' AND type.typelem = 0 AND namespace.nspname <> 'pg_catalog')
    ) AS by_text,
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
  CASE WHEN judged.by_text THEN 'text' WHEN judged.by_bytes THEN 'bytes' ELSE 'value' END AS comparison,
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
