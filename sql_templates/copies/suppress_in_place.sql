-- Blanks, in the table itself, the cells that suppressed_by_counts.sql leaves out. Their values are lost.
-- Parameters: :table;  :assignments  column = blank where planned.mask has its bit
--             :address  the row's address AS a0, ...;  :mask, :condition  as in suppressed_by_counts.sql
--             :same     the addresses are equal
UPDATE :table SET :assignments
FROM (SELECT :address, :mask AS mask FROM :table WHERE :condition) AS planned
WHERE :same AND planned.mask <> 0
