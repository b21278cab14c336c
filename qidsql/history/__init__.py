"""What earlier runs found: in a DuckDB file or a Postgres schema, as tables that plain SQL can read."""
