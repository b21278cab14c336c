-- The audited rows with some cells blank in the rows in classes below k.
-- Parameters: :relation  the audited rows;  :columns  those that decide a class
--             :cells     the columns, those to be blank NULL where class_size < k, under their names
-- Result: one row per row: the columns
SELECT :cells
FROM (SELECT *, COUNT(*) OVER (PARTITION BY :columns) AS class_size FROM :relation) AS sized
