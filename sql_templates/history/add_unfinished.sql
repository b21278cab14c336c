-- A table that is audited, in a run that goes on.
-- Parameters: :run, :source, :table_name, :question, :token, :kept, :document
INSERT INTO unfinished (run, source, table_name, question, token, kept, document)
VALUES (:run, :source, :table_name, :question, :token, :kept, :document)
