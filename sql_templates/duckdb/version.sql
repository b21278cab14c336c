-- The engine's version.
SELECT version() AS version
