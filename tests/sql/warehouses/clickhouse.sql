-- column_counts
SELECT COUNT(*) AS row_count, COUNT(relation."zip"), COUNT(relation."we""ird") FROM "clinic"."people" AS relation;

-- class_sizes
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 0 AS set_number, COUNT(*) AS class_size FROM "clinic"."people" AS relation GROUP BY relation."zip", relation."we""ird") AS classes GROUP BY set_number, class_size;

-- class_profile
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 0 AS set_number, COUNT(*) AS class_size FROM "clinic"."people" AS relation GROUP BY relation."zip", relation."we""ird") AS classes GROUP BY set_number, class_size;

-- class_profile_batch
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 0 AS set_number, COUNT(*) AS class_size FROM "clinic"."people" AS relation GROUP BY relation."zip") AS classes GROUP BY set_number, class_size
UNION ALL
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 1 AS set_number, COUNT(*) AS class_size FROM "clinic"."people" AS relation GROUP BY relation."we""ird") AS classes GROUP BY set_number, class_size
UNION ALL
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 2 AS set_number, COUNT(*) AS class_size FROM "clinic"."people" AS relation GROUP BY relation."zip", relation."we""ird") AS classes GROUP BY set_number, class_size;

-- class_profile_by_finest
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT GROUPING(c0, c1) AS set_number, CAST(SUM(finest.class_size) AS Nullable(Int64)) AS class_size FROM (SELECT relation."zip" AS c0, relation."we""ird" AS c1, COUNT(*) AS class_size FROM "clinic"."people" AS relation GROUP BY relation."zip", relation."we""ird") AS finest GROUP BY GROUPING SETS ((c0), (c1), (c0, c1))) AS classes GROUP BY set_number, class_size;

-- class_profile_one_scan
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT GROUPING(relation."zip", relation."we""ird") AS set_number, COUNT(*) AS class_size FROM "clinic"."people" AS relation GROUP BY GROUPING SETS ((relation."zip"), (relation."we""ird"), (relation."zip", relation."we""ird"))) AS classes GROUP BY set_number, class_size;

-- compared
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 0 AS set_number, COUNT(*) AS class_size FROM (SELECT CAST("zip" AS Nullable(String)) AS "zip", CAST("we""ird" AS Nullable(String)) AS "we""ird", "person" AS "person" FROM "clinic"."people") AS relation GROUP BY relation."zip", relation."we""ird") AS classes GROUP BY set_number, class_size;

-- entity_profile
WITH members AS (SELECT relation."zip" AS c0, relation."we""ird" AS c1, relation."person" AS entity FROM "clinic"."people" AS relation GROUP BY relation."zip", relation."we""ird", relation."person"), sized AS (SELECT entity, COUNT(*) OVER (PARTITION BY c0, c1) AS class_size, ROW_NUMBER() OVER (PARTITION BY c0, c1 ORDER BY entity NULLS FIRST) AS place FROM members), entities AS (SELECT MIN(class_size) AS smallest_class FROM sized GROUP BY entity), per_entity AS (SELECT COUNT(*) AS entity_count, SUM(CASE WHEN smallest_class < 5 THEN 1 ELSE 0 END) AS entities_below_k, SUM(CASE WHEN smallest_class = 1 THEN 1 ELSE 0 END) AS unique_entities FROM entities), per_class AS (SELECT COUNT(*) AS class_count, MIN(class_size) AS smallest_class, MAX(class_size) AS largest_class, SUM(CASE WHEN class_size < 5 THEN 1 ELSE 0 END) AS classes_below_k, SUM(CAST(class_size AS Int128) * (class_size - 1)) AS colliding_pairs FROM sized WHERE place = 1) SELECT 0 AS set_number, class_count, entity_count, smallest_class, largest_class, classes_below_k, entities_below_k, unique_entities, colliding_pairs FROM per_class CROSS JOIN per_entity;

-- entity_sizes
WITH members AS (SELECT relation."zip" AS c0, relation."we""ird" AS c1, relation."person" AS entity FROM "clinic"."people" AS relation GROUP BY relation."zip", relation."we""ird", relation."person"), sized AS (SELECT entity, COUNT(*) OVER (PARTITION BY c0, c1) AS class_size, ROW_NUMBER() OVER (PARTITION BY c0, c1 ORDER BY entity NULLS FIRST) AS place FROM members), entities AS (SELECT MIN(class_size) AS class_size FROM sized GROUP BY entity), counted AS (SELECT class_size, COUNT(*) AS class_count, 0 AS entity_count FROM sized WHERE place = 1 GROUP BY class_size UNION ALL SELECT class_size, 0 AS class_count, COUNT(*) AS entity_count FROM entities GROUP BY class_size) SELECT class_size, SUM(class_count) AS class_count, SUM(entity_count) AS entity_count FROM counted GROUP BY class_size;

-- agreeing
WITH classes AS (SELECT (bitAnd(cityHash64(tuple(relation."zip", relation."person")), 9223372036854775807)) AS class_number, COUNT(*) AS class_size FROM "clinic"."people" AS relation GROUP BY (bitAnd(cityHash64(tuple(relation."zip", relation."person")), 9223372036854775807)) HAVING COUNT(*) > 1), counted AS (SELECT COALESCE(SUM(CAST(class_size AS Int128) * (class_size - 1)), 0) AS pairs, CAST(GREATEST(8 * SUM(class_size) / 1000, 1) AS Nullable(Int64)) AS share, MIN(class_number) AS first_class FROM classes), chosen AS (SELECT class_number, CAST(CASE WHEN pairs <= 1000 THEN 1 ELSE bitShiftRight((class_size + 7), 3) END AS Nullable(Int64)) AS blocks FROM classes CROSS JOIN counted WHERE pairs <= 1000 OR class_number % share = 0 OR class_number = first_class), placed AS (SELECT (bitAnd(cityHash64(tuple(relation."zip", relation."person")), 9223372036854775807)) AS row_class, (bitAnd(cityHash64(tuple(relation."zip", relation."we""ird", relation."person")), 9223372036854775807)) AS place, relation."zip" AS c0, relation."we""ird" AS c1, relation."person" AS c2 FROM "clinic"."people" AS relation), met AS (SELECT placed.*, (bitAnd(cityHash64(tuple(chosen.class_number, (bitAnd(cityHash64(tuple(placed.place)), 9223372036854775807)) % chosen.blocks)), 9223372036854775807)) AS meeting FROM placed JOIN chosen ON placed.row_class = chosen.class_number), members AS (SELECT meeting, place, c0, c1, c2, COUNT(*) AS copies FROM met GROUP BY meeting, place, c0, c1, c2), compared AS (SELECT CASE WHEN a.c1 IS DISTINCT FROM b.c1 THEN CAST(2 AS Nullable(Int64)) ELSE 0 END + CAST(0 AS Nullable(Int64)) AS lane0 FROM members AS a JOIN members AS b ON a.meeting = b.meeting AND a.place <= b.place WHERE a.c0 IS NOT DISTINCT FROM b.c0 AND a.c2 IS NOT DISTINCT FROM b.c2), masks AS (SELECT lane0 FROM compared WHERE lane0 <> 0 UNION DISTINCT SELECT CAST(0 AS Nullable(Int64)) AS lane0 FROM members WHERE copies > 1), smallest AS (SELECT lane0 FROM masks ORDER BY bitCount(lane0) NULLS FIRST LIMIT 50) SELECT pairs, lane0 FROM counted LEFT JOIN smallest ON TRUE;

-- sample_values
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 0 AS set_number, COUNT(*) AS class_size FROM (SELECT c0 AS "zip", c1 AS "we""ird", c2 AS "person" FROM (SELECT hashed.*, ROW_NUMBER() OVER (PARTITION BY row_hash ORDER BY row_hash, c0, c1, c2) AS copy FROM (SELECT relation."zip" AS c0, relation."we""ird" AS c1, relation."person" AS c2, (bitAnd(cityHash64(tuple(relation."zip", relation."we""ird", relation."person")), 9223372036854775807)) AS row_hash FROM (SELECT "zip" AS "zip", "we""ird" AS "we""ird", "person" AS "person" FROM "clinic"."people" WHERE (
person > 7
)) AS relation) AS hashed) AS numbered ORDER BY (bitAnd(cityHash64(tuple((bitAnd(cityHash64(tuple(numbered.row_hash, numbered.copy)), 9223372036854775807)), 7)), 9223372036854775807)), c0, c1, c2 LIMIT 40) AS relation GROUP BY relation."zip", relation."we""ird") AS classes GROUP BY set_number, class_size;
