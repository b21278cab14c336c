-- The queries of views. With an empty search path, every name in them is qualified.
-- Parameters: :oids  the views
-- Result: oid, definition
SELECT CAST(relation.oid AS BIGINT) AS oid, pg_get_viewdef(relation.oid) AS definition
FROM pg_class AS relation
WHERE relation.oid IN (:oids)
