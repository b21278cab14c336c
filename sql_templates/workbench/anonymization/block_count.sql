-- Result: one row: how many blocks there are
SELECT COALESCE(MAX(block), -1) + 1 FROM blocks
