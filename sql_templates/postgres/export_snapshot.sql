-- Makes this transaction's view of the data available to the other sessions.
-- Result: one row: snapshot, the name by which others import it
SELECT pg_export_snapshot() AS snapshot
