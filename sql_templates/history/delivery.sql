-- Result: since, document
SELECT since, document FROM deliveries WHERE message = :message
