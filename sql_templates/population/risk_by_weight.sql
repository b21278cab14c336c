-- The risk of each row of a weighted survey: the expected 1 / F, where F is the unknown size of its class in the
-- population. Of a class of f rows of the weight w, p = f / w; `few` climbs E(f + 1) = p / (1 - p) (1 / f - E(f)) from
-- E(1) = p / (1 - p) ln(1 / p), `many` adds the terms of a series that converges fast for the other classes.
-- [Benedetti & Franconi 1998; the same as qidsql/measures/population.py]
-- Parameters: :household, :columns, :relation  as in risk_by_class.sql
--             :weight      a row's weight, as a float
--             :fewest      rows from which on the series is used
--             :negligible  a term, as a share of the sum
-- Result: household, risk: a row per row
WITH RECURSIVE members AS (
  SELECT
    :household AS household,
    COUNT(*) OVER (PARTITION BY :columns) AS class_size,
    SUM(:weight) OVER (PARTITION BY :columns) AS class_weight
  FROM :relation
), classes AS (
  SELECT
    class_size,
    class_weight,
    CASE WHEN class_weight <= class_size THEN CAST(1 AS DOUBLE) ELSE class_size / class_weight END AS p
  FROM members
  GROUP BY class_size, class_weight
), few AS (
  SELECT class_size, class_weight, p, 1 AS climbed, p / (1 - p) * LN(1 / p) AS risk
  FROM classes
  WHERE class_size < :fewest AND p <= 0.5
  UNION ALL
  SELECT class_size, class_weight, p, climbed + 1, p / (1 - p) * (CAST(1 AS DOUBLE) / climbed - risk)
  FROM few
  WHERE climbed < class_size
), many AS (
  SELECT class_size, class_weight, p, 0 AS step, CAST(1 AS DOUBLE) AS term, CAST(1 AS DOUBLE) AS total
  FROM classes
  WHERE NOT (class_size < :fewest AND p <= 0.5)
  UNION ALL
  SELECT
    class_size,
    class_weight,
    p,
    step + 1,
    term * (step + 1) * (1 - p) / (class_size + 1 + step),
    total + term * (step + 1) * (1 - p) / (class_size + 1 + step)
  FROM many
  WHERE term > :negligible * total
), risks AS (
  SELECT class_size, class_weight, risk FROM few WHERE climbed = class_size
  UNION ALL
  SELECT class_size, class_weight, MAX(p) / class_size * MAX(total) FROM many GROUP BY class_size, class_weight
)
SELECT members.household, risks.risk
FROM members
JOIN risks ON risks.class_size = members.class_size AND risks.class_weight = members.class_weight
