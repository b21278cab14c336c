SELECT set_number, class_size, COUNT(*) AS class_count FROM (SELECT 0 AS set_number, COUNT(*) AS class_size FROM (SELECT `zip` AS `zip`, `we"ird` AS `we"ird`, `person` AS `person` FROM `clinic`.`people` WHERE (
ZIP >= '10' AND people.person IS NOT NULL
)) AS relation GROUP BY relation.`zip`, relation.`we"ird`) AS classes GROUP BY set_number, class_size
