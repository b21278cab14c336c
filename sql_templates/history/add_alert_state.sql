-- A verdict that an alert tells.
-- Parameters: :alert, :source, :table_name, :verdict, :run, :told
INSERT INTO alert_states (alert, source, table_name, verdict, run, told)
VALUES (:alert, :source, :table_name, :verdict, :run, :told)
