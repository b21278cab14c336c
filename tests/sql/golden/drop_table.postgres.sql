DROP TABLE "clinic"."safe"
