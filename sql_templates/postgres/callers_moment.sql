-- What a transaction sees: what was committed at a moment after :since, or at its snapshot, or changes of its own.
-- Parameters: :since  a text
-- Result: one row: seen
SELECT
  CASE
    WHEN pg_catalog.txid_current_if_assigned() IS NOT NULL THEN 'changes of its own'
    WHEN pg_catalog.timestamptz_ge(pg_catalog.transaction_timestamp(), CAST(:since AS TIMESTAMPTZ)) THEN 'this moment'
    ELSE CAST(pg_catalog.txid_current_snapshot() AS TEXT)
  END AS seen
