-- The columns of each table when it was last audited in a complete run.
-- Result: source, table_name, run, column_name, column_type
SELECT audit.source, audit.table_name, runs.run, profile.column_name, profile.column_type
FROM (
  SELECT seen.source, seen.table_name, MAX(at.number) AS number
  FROM table_audits AS seen
  JOIN runs AS at ON at.run = seen.run
  WHERE at.complete AND seen.engine IS NOT NULL
  GROUP BY seen.source, seen.table_name
) AS newest
JOIN runs ON runs.number = newest.number
JOIN table_audits AS audit
  ON audit.run = runs.run AND audit.source = newest.source AND audit.table_name = newest.table_name
JOIN profiles AS profile ON profile.run = audit.run AND profile.place = audit.place
