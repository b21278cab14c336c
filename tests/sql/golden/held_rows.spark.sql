SELECT relation.`zip`, relation.`we"ird` FROM `clinic`.`people` AS relation
