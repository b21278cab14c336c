-- The groups of a round, divided by the next level of one column.
-- Parameters: :place   the column's number;  :code, :mask  the words of its codes and masks
--             :finer   the mask of its next level;  :column  that of its finest level
--             :least   the size of a group from which on it can be divided
--             :safe    whether a part is safe;  :counted  which parts to return: all, or those that are
--             :seen    the sensitive values of a part, as bits
-- Result: place, number: the group;  size: who is in it;  finer;  path: the part;  n: its rows;  safe, :seen
SELECT
  :place AS place,
  number,
  size,
  :finer AS finer,
  :code & :finer AS path,
  CAST(SUM(n) AS BIGINT) AS n,
  :safe AS safe,
  :seen
FROM tightened
WHERE size >= :least AND (:mask & :column) <> :column
GROUP BY number, :mask, size, :code & :finer
HAVING :counted
