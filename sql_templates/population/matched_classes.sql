-- The classes of a published table and of a population on the same columns, side by side: how many classes have the
-- same number of published rows and of people. A NULL agrees with a NULL when rows are put into classes; the classes
-- with a NULL are listed apart, since nobody can look a NULL up.
-- Parameters: :published, :population                    the rows of the two tables
--             :published_columns, :population_columns    the columns, each in a form in which both sides can be compared
--             :published_aliased, :population_aliased    the same AS c0, c1, ...;  :names  c0, c1, ...
--             :people      the people in a class of the population: its rows, or the sum of their counts
--             :uncounted   the rows of such a class without a count of people that could be added up
--             :incomplete  one of c0, c1, ... is NULL
-- Result: published_rows (0 for a class of the population alone), people (0 for a class of the published table alone),
--         incomplete (1 or 0), class_count, uncounted_rows: one row per combination of the first three that occurs
WITH classes AS (
  SELECT
    SUM(published_rows) AS published_rows,
    SUM(people) AS people,
    SUM(uncounted_rows) AS uncounted_rows,
    CASE WHEN :incomplete THEN 1 ELSE 0 END AS incomplete
  FROM (
    SELECT :published_aliased, COUNT(*) AS published_rows, 0 AS people, 0 AS uncounted_rows
    FROM :published
    GROUP BY :published_columns
    UNION ALL
    SELECT :population_aliased, 0 AS published_rows, :people AS people, :uncounted AS uncounted_rows
    FROM :population
    GROUP BY :population_columns
  ) AS sides
  GROUP BY :names
)
SELECT
  published_rows,
  people,
  incomplete,
  COUNT(*) AS class_count,
  SUM(uncounted_rows) AS uncounted_rows
FROM classes
GROUP BY published_rows, people, incomplete
