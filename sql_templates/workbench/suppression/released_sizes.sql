-- How many different released rows there are, by the columns that they hide and by how many rows are equal.
-- Parameters: :codes  c0, c1, ... with 0 for cells that are blank;  :hidden  the columns that are 0 in these
--             :rows   the relation that has the codes of what patterns suppress, and size
-- Result: hidden columns, equal rows, different rows
SELECT hidden, size, COUNT(*)
FROM (SELECT :hidden AS hidden, SUM(size) AS size FROM :rows GROUP BY :codes) AS released
GROUP BY hidden, size
ORDER BY hidden, size
