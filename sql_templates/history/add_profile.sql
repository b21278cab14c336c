-- A column of an audit.
-- Parameters: as the columns of the table: :run, :place, :column_name, :column_type, :role, :nulls, :k, :classes,
--   :rows_at_risk, :distinct_ratio, :separation_ratio
INSERT INTO profiles (
  run, place, column_name, column_type, role, nulls, k, classes, rows_at_risk, distinct_ratio, separation_ratio
) VALUES (
  :run, :place, :column_name, :column_type, :role, :nulls, :k, :classes, :rows_at_risk, :distinct_ratio, :separation_ratio
)
