-- The engine's version, and the time zone by which it counts days.
-- Result: one row: version (v1.5.6), time_zone
SELECT version() AS version, current_setting('TimeZone') AS time_zone
