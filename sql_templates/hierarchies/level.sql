-- How many labels a level of a hierarchy has, how many of them at most have the same parent, and how many have two.
-- Parameters: :place  the column's number;  :level;  :label, :parent  its labels, and those of the next level
--             :labelled  the values of the column with their labels
-- Result: place, level, labels, largest, with_two_parents, without
SELECT
  :place AS place, :level AS level,
  (SELECT COUNT(DISTINCT :label) FROM :labelled) AS labels,
  (SELECT MAX(children) FROM (SELECT COUNT(DISTINCT :label) AS children FROM :labelled GROUP BY :parent) AS families) AS largest,
  (SELECT COUNT(*) FROM (SELECT :label FROM :labelled GROUP BY :label HAVING COUNT(DISTINCT :parent) > 1) AS split)
    AS with_two_parents,
  (SELECT COUNT(*) FROM :labelled WHERE :label IS NULL) AS without
