-- The risk that somebody of a household is re-identified: 1 - the product of (1 - risk) over its members, as if each were
-- recognised on his own. A row without a household is one of its own.
-- Parameters: :people  household and risk of each row (risk_by_class.sql or risk_by_weight.sql)
-- Result: households, row_count, without (rows without a household), certain (households of risk 1), highest,
--         expected (households), expected_rows (rows in them): the last three as text, since in SQLite a float is an
--         overflow
WITH people AS (
  SELECT * FROM :people
), households AS (
  SELECT
    household,
    COUNT(*) AS members,
    CASE
      WHEN MAX(risk) >= 1 THEN CAST(1 AS DOUBLE)
      ELSE 1 - EXP(SUM(LN(1 - CASE WHEN risk >= 1 THEN CAST(0 AS DOUBLE) ELSE risk END)))
    END AS risk
  FROM people
  WHERE NOT household IS NULL
  GROUP BY household
  UNION ALL
  SELECT household, 1 AS members, risk FROM people WHERE household IS NULL
)
SELECT
  COUNT(household) AS households,
  SUM(members) AS row_count,
  SUM(CASE WHEN household IS NULL THEN 1 ELSE 0 END) AS without,
  SUM(CASE WHEN risk >= 1 THEN 1 ELSE 0 END) AS certain,
  CAST(MAX(risk) AS VARCHAR) AS highest,
  CAST(SUM(risk) AS VARCHAR) AS expected,
  CAST(SUM(members * risk) AS VARCHAR) AS expected_rows
FROM households
