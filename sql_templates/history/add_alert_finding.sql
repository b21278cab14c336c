-- What is broken of the policy as an alert tells of a table.
-- Parameters: :alert, :source, :table_name, :finding, :k, :at_risk, :whole
INSERT INTO alert_findings (alert, source, table_name, finding, k, at_risk, whole)
VALUES (:alert, :source, :table_name, :finding, :k, :at_risk, :whole)
