-- The classes of the persons who are in two releases, by what both say of them: smallest, and the rows below k.
-- Parameters: :earlier, :later                the rows of the two releases, each with a column key_value
--             :names                          the columns of both by which the classes are made
--             :k
-- Result: classes, joint_rows, smallest, below, alone
SELECT
  COUNT(*) AS classes,
  SUM(class_size) AS joint_rows,
  MIN(class_size) AS smallest,
  SUM(CASE WHEN class_size < :k THEN class_size ELSE 0 END) AS below,
  SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS alone
FROM (
  SELECT COUNT(*) AS class_size
  FROM :earlier
  JOIN :later ON earlier.key_value = later.key_value
  GROUP BY :names
) AS classes
