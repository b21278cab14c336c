-- The version and platform of this DuckDB, which an extension must be built for.
-- Result: one row: library_version (v1.5.6), platform (linux_amd64)
SELECT
  library_version,
  platform
FROM pragma_version(), pragma_platform()
