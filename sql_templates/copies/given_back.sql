-- The blank cells of a protected column that another column of a copy gives back. A value of the protected column is
-- counted in the table and in the copy: it is missing in as many rows of the copy as cells with it are blank. Someone
-- fills in the value that rows with the same values of the others suggest, the suggestions by most rows first.
-- Parameters: :pair             a number that names both columns
--             :given, :hidden   the columns that are copied unchanged, and the protected one
--             :cells            the rows of the table, and those of the copy, of which released is not NULL
-- Result: pair; blank: the cells that lost a value; cells: those filled in rightly, the most of which nine in ten are
--         right; certain: those of them where all of these rows show the same
SELECT
  :pair AS pair,
  COALESCE(MAX(all_blank), 0) AS blank,
  COALESCE(MAX(CASE WHEN 10 * (filled - rightly) <= filled THEN rightly END), 0) AS cells,
  COALESCE(MAX(CASE WHEN 10 * (filled - rightly) <= filled THEN certainly END), 0) AS certain
FROM (
  SELECT
    all_blank,
    SUM(suggested * blank_in_group) OVER (ORDER BY in_group DESC) AS filled,
    SUM(suggested * blank) OVER (ORDER BY in_group DESC) AS rightly,
    SUM(CASE WHEN shown = in_group THEN suggested * blank ELSE 0 END) OVER (ORDER BY in_group DESC) AS certainly
  FROM (
    SELECT
      shown,
      blank,
      in_group,
      blank_in_group,
      all_blank,
      CASE WHEN 10 * (in_group - shown) * of_all <= (of_all - of_value) * in_group
          AND 10 * in_group * (of_all - of_value) >= 9 * of_all AND shown > 0
        THEN 1 ELSE 0 END AS suggested
    FROM (
      SELECT
        COUNT(released) AS shown,
        COUNT(*) - 2 * COUNT(released) AS blank,
        SUM(COUNT(released)) OVER (PARTITION BY :given) AS in_group,
        SUM(COUNT(*) - 2 * COUNT(released)) OVER (PARTITION BY :given) AS blank_in_group,
        SUM(COUNT(released)) OVER (PARTITION BY :hidden) AS of_value,
        SUM(COUNT(released)) OVER () AS of_all,
        SUM(COUNT(*) - 2 * COUNT(released)) OVER () AS all_blank
      FROM :cells
      WHERE NOT :hidden IS NULL
      GROUP BY :given, :hidden
    ) AS counted
  ) AS judged
) AS trusted
