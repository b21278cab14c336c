-- The classes that agree with k rows or more at some levels of a group of columns, and what they lose there.
-- Parameters: :place  the group's number;  :words  the codes;  :masked  their bits that decide;  :row  the same as a row
--             :loss   of a class;  :k
-- Result: place, codes, loss
SELECT :place AS place, :words, :loss AS loss
FROM classes
WHERE :row IN (SELECT :masked FROM classes GROUP BY :masked HAVING SUM(n) >= :k)
