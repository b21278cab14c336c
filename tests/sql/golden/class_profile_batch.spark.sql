SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 0 AS set_number, COUNT(*) AS class_size FROM `clinic`.`people` AS relation GROUP BY relation.`zip`) AS classes GROUP BY set_number, class_size
UNION ALL
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 1 AS set_number, COUNT(*) AS class_size FROM `clinic`.`people` AS relation GROUP BY relation.`we"ird`) AS classes GROUP BY set_number, class_size
UNION ALL
SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 2 AS set_number, COUNT(*) AS class_size FROM `clinic`.`people` AS relation GROUP BY relation.`zip`, relation.`we"ird`) AS classes GROUP BY set_number, class_size
