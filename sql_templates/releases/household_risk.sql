-- The risk that somebody of a household is recognised: 1 - the product of (1 - 1 / class size) over its members.
-- Parameters: :household  the column that tells the households;  :classes  the columns of the classes
--             :rows       the rows
-- Result: households, row_count, without (rows without a household), highest, expected (rows in recognised households)
SELECT
  COUNT(household) AS households,
  SUM(members) AS row_count,
  SUM(CASE WHEN household IS NULL THEN members ELSE 0 END) AS without,
  MAX(risk) AS highest,
  SUM(members * risk) AS expected
FROM (
  SELECT
    household,
    COUNT(*) AS members,
    CASE
      WHEN MIN(class_size) = 1 THEN 1.0
      ELSE 1.0 - EXP(SUM(LN(1.0 - 1.0 / CASE WHEN class_size = 1 THEN 2 ELSE class_size END)))
    END AS risk
  FROM (SELECT :household AS household, COUNT(*) OVER (PARTITION BY :classes) AS class_size FROM :rows) AS people
  GROUP BY household
) AS households
