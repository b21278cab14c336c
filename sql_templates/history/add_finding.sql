-- A finding of a run.
-- Parameters: as the columns of the table: :run, :place, :finding, :kind, :column_set, :state, :k, :rows_at_risk,
--   :share_at_risk, :exception
INSERT INTO findings (
  run, place, finding, kind, column_set, state, k, rows_at_risk, share_at_risk, exception
) VALUES (
  :run, :place, :finding, :kind, :column_set, :state, :k, :rows_at_risk, :share_at_risk, :exception
)
