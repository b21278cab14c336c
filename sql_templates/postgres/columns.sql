-- Columns of some tables, in their order.
-- Parameters: :oids  the tables
-- Result: column_name, data_type, is_nullable, readable (this role may SELECT it),
--         comparison: text       the type, or a type inside it, has no equality and hash of Postgres' own (json, also bit
--                                and money, which have no hash), or code of others would decide in their place: an
--                                operator class made later, or a function that casts a type of theirs
--                     published  values that are equal can be published as different texts: numbers without a fixed
--                                scale (70 and 70.00, also in jsonb), intervals (1 month and 30 days), texts without a
--                                fixed length, whose type ignores trailing blanks
--                     bytes      a collation of the type merges texts that differ
--                     value      the type's own equality
--         oid, base_type (the base type of a domain; enum for all enums; empty if functions of others cast it)
-- Postgres' own objects have oids below 16384.
-- The parts of a type: a domain's base, an array's elements, a range's bounds.
WITH RECURSIVE parts AS (
  SELECT
    attribute.attrelid AS oid,
    attribute.attnum AS place,
    attribute.atttypid AS type_oid,
    attribute.attcollation AS collation_oid,
    attribute.atttypmod AS modifier
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
    COALESCE(part.modifier, whole.modifier) AS modifier
  FROM parts AS whole
  JOIN (
    SELECT
      domain.oid AS whole_oid,
      domain.typbasetype AS type_oid,
      domain.typcollation AS collation_oid,
      domain.typtypmod AS modifier
    FROM pg_type AS domain
    WHERE domain.typtype = 'd'
    UNION ALL
    SELECT
      list.oid AS whole_oid,
      list.typelem AS type_oid,
      list.typcollation AS collation_oid,
      NULL AS modifier -- that of the whole
    FROM pg_type AS list
    WHERE list.typelem <> 0
    UNION ALL
    SELECT
      bounds.rngtypid AS whole_oid,
      bounds.rngsubtype AS type_oid,
      bounds.rngcollation AS collation_oid,
      -1 AS modifier
    FROM pg_range AS bounds
  ) AS part ON part.whole_oid = whole.type_oid
), default_class AS (
  SELECT
    class.opcintype AS type_oid,
    MAX(class.oid) >= 16384 AS of_others,
    MAX(class.oid) < 16384 AND COUNT(*) = 2 AS own
  FROM pg_opclass AS class
  JOIN pg_am AS method ON method.oid = class.opcmethod
  WHERE class.opcdefault AND method.amname IN ('btree', 'hash')
  GROUP BY class.opcintype
), equality AS ( -- the default one of a type, and of those whose values have the same bytes
  SELECT type_oid, of_others, own, TRUE AS exact FROM default_class
  UNION ALL
  SELECT same.castsource AS type_oid, of_others, own AND same.oid < 16384 AS own, FALSE AS exact
  FROM default_class
  JOIN pg_cast AS same ON same.casttarget = default_class.type_oid
  WHERE same.castmethod = 'b' AND same.castcontext = 'i'
  UNION ALL
  SELECT any_type.oid AS type_oid, TRUE AS of_others, FALSE AS own, FALSE AS exact
  FROM default_class
  JOIN pg_type AS pseudo ON pseudo.oid = default_class.type_oid AND pseudo.typtype = 'p'
  CROSS JOIN pg_type AS any_type
  WHERE default_class.of_others
  UNION ALL
  SELECT bounds.rngtypid AS type_oid, TRUE AS of_others, FALSE AS own, FALSE AS exact
  FROM pg_range AS bounds
  WHERE bounds.rngsubopc >= 16384
), type_equality AS (
  SELECT
    type.oid,
    COALESCE(bool_or(equality.own AND equality.exact), FALSE) AS exact,
    COALESCE(bool_or(equality.own), FALSE) AS own,
    COALESCE(bool_or(equality.of_others), FALSE) AS of_others
  FROM pg_type AS type
  LEFT JOIN equality ON equality.type_oid = type.oid
  WHERE type.oid IN (SELECT parts.type_oid FROM parts)
  GROUP BY type.oid
), judged AS (
  SELECT
    parts.oid,
    parts.place,
    bool_or(type.typtype IN ('c', 'm', 'p') OR casts.by_others OR (NOT equality.exact AND (
      equality.of_others
      OR (type.typtype = 'b' AND (type.typelem = 0 OR type.typlen > 0) AND NOT equality.own)
    ))) AS by_text,
    bool_or(
      type.typname IN ('interval', 'jsonb')
      OR (parts.modifier < 0 AND type.typname IN ('numeric', 'bpchar'))
    ) AS as_published,
    bool_or(NOT collation_of.collisdeterministic) AS by_bytes,
    bool_or(casts.by_others) AS cast_by_others
  FROM parts
  JOIN pg_type AS type ON type.oid = parts.type_oid
  JOIN type_equality AS equality ON equality.oid = type.oid
  CROSS JOIN LATERAL (
    SELECT type.oid >= 16384 AND EXISTS (
      SELECT 1
      FROM pg_cast AS by_function
      JOIN pg_type AS target ON target.oid = by_function.casttarget
      WHERE by_function.castsource = type.oid
        AND by_function.castmethod = 'f'
        AND target.typtype <> 'm' -- to which Postgres itself casts ranges
    ) AS by_others
  ) AS casts
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
    WHEN judged.as_published THEN 'published'
    WHEN judged.by_bytes THEN 'bytes'
    ELSE 'value'
  END AS comparison,
  CAST(judged.oid AS BIGINT) AS oid,
  CASE
    WHEN judged.cast_by_others THEN ''
    WHEN own_type.typtype = 'e' THEN 'enum'
    WHEN own_type.typtype = 'd' THEN (
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
    )
    ELSE format_type(own_type.oid, NULL)
  END AS base_type
FROM judged
JOIN pg_attribute AS attribute ON attribute.attrelid = judged.oid AND attribute.attnum = judged.place
JOIN pg_type AS own_type ON own_type.oid = attribute.atttypid
ORDER BY judged.oid, attribute.attnum
