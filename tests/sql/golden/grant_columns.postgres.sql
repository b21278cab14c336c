REVOKE SELECT ON "clinic"."people" FROM "reader";
GRANT SELECT("zip", "we""ird") ON "clinic"."people" TO "reader"
