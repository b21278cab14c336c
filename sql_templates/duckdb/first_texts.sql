-- Whether the first texts of some columns are written as the values that they convert to: 007 is not, as the number is 7.
-- Parameters: :unchanged  of each column, whether all its texts are
--             :texts      the rows of texts
--             :most       how many of them are read
-- Result: one row: a list, of each column TRUE or FALSE
SELECT LIST_VALUE(:unchanged) AS unchanged
FROM (SELECT * FROM :texts LIMIT :most) AS first_texts
