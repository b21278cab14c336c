-- What was broken when an alert last told of its tables.
-- Parameters: :alert
-- Result: source, table_name, finding, k, at_risk, whole
SELECT source, table_name, finding, k, at_risk, whole FROM alert_findings WHERE alert = :alert
