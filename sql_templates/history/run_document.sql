-- Result: document
SELECT document FROM runs WHERE run = :run
