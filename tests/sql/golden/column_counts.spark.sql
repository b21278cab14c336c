SELECT COUNT(*) AS row_count, COUNT(relation.`zip`), COUNT(relation.`we"ird`) FROM `clinic`.`people` AS relation
