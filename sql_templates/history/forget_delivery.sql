-- A message that arrived, was given up, or is kept anew.
-- Parameters: :message
DELETE FROM deliveries WHERE message = :message
