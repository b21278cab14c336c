-- The text of a string, a number or a boolean, inside read_json.sql.
-- Parameters: :number  the column's, from 1;  :mark  the prefix of numbers
-- Result: one value: the text; NULL for a null
SELECT REPLACE(LIST_EXTRACT(texts, :number), :mark, '')
