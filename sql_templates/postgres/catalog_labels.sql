-- Labels of tables and columns: comments, and security labels (such as PostgreSQL Anonymizer's rules).
-- Parameters: :oids  the tables
-- Result: oid, column_name (NULL for the table itself), kind, label
SELECT
  CAST(labelled.oid AS BIGINT) AS oid,
  attribute.attname AS column_name,
  labelled.kind,
  labelled.label
FROM (
  SELECT written.objoid AS oid, written.objsubid AS number, 'comment' AS kind, written.description AS label
  FROM pg_description AS written
  WHERE written.classoid = CAST('pg_class' AS REGCLASS)
  UNION ALL
  SELECT written.objoid AS oid, written.objsubid AS number, 'security label ' || written.provider AS kind, written.label
  FROM pg_seclabel AS written
  WHERE written.classoid = CAST('pg_class' AS REGCLASS)
) AS labelled
LEFT JOIN pg_attribute AS attribute
  ON attribute.attrelid = labelled.oid AND attribute.attnum = labelled.number AND labelled.number > 0
WHERE labelled.oid IN (:oids)
ORDER BY oid, labelled.number, labelled.kind
