-- Before what is broken now is told.
-- Parameters: :alert, :source, :table_name
DELETE FROM alert_findings WHERE alert = :alert AND source = :source AND table_name = :table_name
