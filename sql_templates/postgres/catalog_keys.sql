-- Declared keys: unique indexes on plain columns over all rows, in which no two rows can be equal. An index with a
-- nullable column is no key, since it admits several NULLs, unless it treats NULLs as equal. An index on a table with
-- inheritance children is none either, since it does not cover the children's rows.
-- Parameters: :oids  the tables
-- Result: oid, column_names
SELECT
  CAST(index_of.indrelid AS BIGINT) AS oid,
  (
    SELECT array_agg(CAST(attribute.attname AS TEXT) ORDER BY key_part.place)
    FROM unnest(CAST(index_of.indkey AS SMALLINT[])) WITH ORDINALITY AS key_part(number, place)
    JOIN pg_attribute AS attribute ON attribute.attrelid = index_of.indrelid AND attribute.attnum = key_part.number
    WHERE key_part.place <= index_of.indnkeyatts
  ) AS column_names
FROM pg_index AS index_of
WHERE index_of.indrelid IN (:oids)
  AND index_of.indisunique
  AND index_of.indisvalid
  AND index_of.indimmediate
  AND index_of.indpred IS NULL
  AND index_of.indexprs IS NULL
  AND NOT EXISTS (
    SELECT 1
    FROM pg_inherits AS heir
    JOIN pg_class AS parent ON parent.oid = heir.inhparent AND parent.relkind = 'r'
    WHERE heir.inhparent = index_of.indrelid
  )
  AND (
    COALESCE(CAST(to_jsonb(index_of) ->> 'indnullsnotdistinct' AS BOOLEAN), FALSE)
    OR NOT EXISTS (
      SELECT 1
      FROM unnest(CAST(index_of.indkey AS SMALLINT[])) WITH ORDINALITY AS key_part(number, place)
      JOIN pg_attribute AS attribute ON attribute.attrelid = index_of.indrelid AND attribute.attnum = key_part.number
      WHERE key_part.place <= index_of.indnkeyatts AND NOT attribute.attnotnull
    )
  )
ORDER BY oid, index_of.indexrelid
