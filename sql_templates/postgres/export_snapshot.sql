-- Exports this transaction's snapshot for use by the other sessions.
-- Result: one row: snapshot, the name by which others import it
SELECT pg_export_snapshot() AS snapshot
