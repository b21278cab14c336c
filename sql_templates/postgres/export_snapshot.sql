-- Makes this transaction's view of the data available to the other sessions.
SELECT pg_export_snapshot() AS snapshot
