-- Before the new verdict is told.
-- Parameters: :alert, :source, :table_name
DELETE FROM alert_states WHERE alert = :alert AND source = :source AND table_name = :table_name
