-- What changes with the rows, in any order: about as surely as a number of 64 bits drawn at random.
-- Parameters: :row_hash  of all columns of the relation, with the key
--             :relation  the audited rows
-- Result: one row: number_of_rows, total and crossed (the XOR) of the hashes
SELECT COUNT(*) AS number_of_rows, SUM(hashed.row_hash) AS total, BIT_XOR(hashed.row_hash) AS crossed
FROM (SELECT :row_hash AS row_hash FROM :relation) AS hashed
