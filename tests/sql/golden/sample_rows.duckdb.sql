SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 0 AS set_number, COUNT(*) AS class_size FROM (SELECT "zip" AS "zip", "we""ird" AS "we""ird", "person" AS "person" FROM "clinic"."people" WHERE (
person > 7
) ORDER BY HASH(HASH(HASH(rowid), 7)) NULLS FIRST LIMIT 40) AS relation GROUP BY relation."zip", relation."we""ird") AS classes GROUP BY set_number, class_size
