-- Before what the policy of a table asks now is noted.
-- Parameters: :alert, :source, :table_name
DELETE FROM alert_questions WHERE alert = :alert AND source = :source AND table_name = :table_name
