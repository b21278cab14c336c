-- Messages that have not arrived, oldest first.
-- Result: since, attempts, failure, document
SELECT since, attempts, failure, document FROM deliveries ORDER BY since, message
