-- A message as it stands now.
-- Parameters: :message, :alert, :run, :since, :attempts, :failure, :document
INSERT INTO deliveries (message, alert, run, since, attempts, failure, document)
VALUES (:message, :alert, :run, :since, :attempts, :failure, :document)
