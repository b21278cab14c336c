-- The keywords of Postgres' grammar, and the names of its own types.
-- Result: word
SELECT CAST(keyword.word AS TEXT) AS word FROM pg_get_keywords() AS keyword
UNION
SELECT CAST(type.typname AS TEXT) AS word
FROM pg_type AS type
JOIN pg_namespace AS namespace ON namespace.oid = type.typnamespace
WHERE namespace.nspname = 'pg_catalog'
