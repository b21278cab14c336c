-- Foreign keys between the tables; a partition's are included in its table's.
-- Parameters: :oids  the tables
-- Result: oid, column_names, referenced_oid, referenced_columns in the order of column_names
SELECT
  CAST(reference.conrelid AS BIGINT) AS oid,
  (
    SELECT array_agg(CAST(attribute.attname AS TEXT) ORDER BY key_part.place)
    FROM unnest(reference.conkey) WITH ORDINALITY AS key_part(number, place)
    JOIN pg_attribute AS attribute ON attribute.attrelid = reference.conrelid AND attribute.attnum = key_part.number
  ) AS column_names,
  CAST(reference.confrelid AS BIGINT) AS referenced_oid,
  (
    SELECT array_agg(CAST(attribute.attname AS TEXT) ORDER BY key_part.place)
    FROM unnest(reference.confkey) WITH ORDINALITY AS key_part(number, place)
    JOIN pg_attribute AS attribute ON attribute.attrelid = reference.confrelid AND attribute.attnum = key_part.number
  ) AS referenced_columns
FROM pg_constraint AS reference
WHERE reference.contype = 'f'
  AND reference.conparentid = 0
  AND reference.conrelid IN (:oids)
  AND reference.confrelid IN (:oids)
ORDER BY oid, reference.oid
