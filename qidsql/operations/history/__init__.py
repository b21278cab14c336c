"""The recorded runs, in DuckDB or Postgres."""
