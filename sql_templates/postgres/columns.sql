-- Columns of one table, in their order.
-- Parameters: :oid  the table
-- Result: column_name, data_type, is_nullable, readable (this role may SELECT it),
--         comparison: text   equality of the type is looser than its text (citext), or fails at run time (composites)
--                     bytes  the collation merges texts that differ
--                     value  the type's own equality, should it have one (postgres/groupable.sql tells)
SELECT
  attribute.attname AS column_name,
  format_type(attribute.atttypid, attribute.atttypmod) AS data_type,
  NOT attribute.attnotnull AS is_nullable,
  has_column_privilege(attribute.attrelid, attribute.attnum, 'SELECT') AS readable,
  CASE
    WHEN 'citext' IN (base.typname, element.typname) THEN 'text'
    WHEN 'c' IN (base.typtype, element.typtype) THEN 'text'
    WHEN NOT collation_of.collisdeterministic THEN 'bytes'
    ELSE 'value'
  END AS comparison
FROM pg_attribute AS attribute
JOIN pg_type AS type ON type.oid = attribute.atttypid
JOIN pg_type AS base ON base.oid = CASE WHEN type.typtype = 'd' THEN type.typbasetype ELSE type.oid END
JOIN pg_type AS element ON element.oid = CASE WHEN base.typelem <> 0 THEN base.typelem ELSE base.oid END
LEFT JOIN pg_collation AS collation_of ON collation_of.oid = attribute.attcollation
WHERE attribute.attrelid = :oid
  AND attribute.attnum > 0
  AND NOT attribute.attisdropped
ORDER BY attribute.attnum
