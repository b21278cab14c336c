-- A message that arrived, was given up, or is kept anew.
DELETE FROM deliveries WHERE message = :message
