-- A table of a run.
-- Parameters: as the columns of the table: :run, :place, :source, :source_label, :table_name, :owner, :verdict,
--   :reason, :error, :resumed, :engine, :snapshot, :started, :seconds, :statements, :row_count, :entities, :k,
--   :k_asked, :rows_at_risk, :share_at_risk, :policy, :document
INSERT INTO table_audits (
  run, place, source, source_label, table_name, owner, verdict, reason, error, resumed, engine, snapshot, started, seconds,
  statements, row_count, entities, k, k_asked, rows_at_risk, share_at_risk, policy, document
) VALUES (
  :run, :place, :source, :source_label, :table_name, :owner, :verdict, :reason, :error, :resumed, :engine, :snapshot,
  :started, :seconds, :statements, :row_count, :entities, :k, :k_asked, :rows_at_risk, :share_at_risk, :policy, :document
)
