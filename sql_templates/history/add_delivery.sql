-- A message as it stands now.
INSERT INTO deliveries (message, alert, run, since, attempts, failure, document)
VALUES (:message, :alert, :run, :since, :attempts, :failure, :document)
