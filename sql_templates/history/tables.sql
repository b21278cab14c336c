-- Every table ever audited.
-- Result: source, table_name
SELECT DISTINCT source, table_name FROM table_audits ORDER BY source, table_name
