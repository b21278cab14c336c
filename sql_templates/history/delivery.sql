-- A message that has not arrived.
-- Parameters: :message
-- Result: since, document
SELECT since, document FROM deliveries WHERE message = :message
