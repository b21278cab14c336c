-- What an alert told last.
-- Parameters: :alert
-- Result: source, table_name, verdict, that an alert told last
SELECT source, table_name, verdict FROM alert_states WHERE alert = :alert
