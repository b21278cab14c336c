-- The engine's version.
-- Result: one row: version (v1.5.6)
SELECT version() AS version
