"""Postgres: read-only sessions on one snapshot."""
