-- What the policies of its tables asked when an alert last told of them.
-- Parameters: :alert
-- Result: source, table_name, question
SELECT source, table_name, question FROM alert_questions WHERE alert = :alert
