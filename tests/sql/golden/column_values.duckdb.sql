SELECT 0 AS place, ROW_NUMBER() OVER (ORDER BY value NULLS FIRST) AS code, CAST(value AS TEXT) AS value_text FROM (SELECT DISTINCT relation."zip" AS value FROM "clinic"."people" AS relation WHERE NOT relation."zip" IS NULL) AS domain
UNION ALL
SELECT 1 AS place, ROW_NUMBER() OVER (ORDER BY value NULLS FIRST) AS code, CAST(value AS TEXT) AS value_text FROM (SELECT DISTINCT relation."we""ird" AS value FROM "clinic"."people" AS relation WHERE NOT relation."we""ird" IS NULL) AS domain
