-- What the policy of a table asks as an alert tells of it.
-- Parameters: :alert, :source, :table_name, :question
INSERT INTO alert_questions (alert, source, table_name, question) VALUES (:alert, :source, :table_name, :question)
