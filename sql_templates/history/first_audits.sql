-- Every table ever audited, with the begin of the first run that audited it.
-- Result: source, table_name, started
SELECT audit.source, audit.table_name, MIN(runs.started) AS started
FROM table_audits AS audit
JOIN runs ON runs.run = audit.run
GROUP BY audit.source, audit.table_name
