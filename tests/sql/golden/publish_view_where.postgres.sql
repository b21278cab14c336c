CREATE VIEW "clinic"."public" AS SELECT "zip", "we""ird" FROM "clinic"."people" WHERE (
person > 7 -- of all
)
