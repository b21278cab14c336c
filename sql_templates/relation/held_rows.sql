-- The audited rows as they are, for the engine to hold.
-- Parameters: :columns   columns of the relation, under their names
--             :relation  the audited rows
-- Result: one row per row: the columns
SELECT :columns
FROM :relation
