-- The settings that decide what a text in a condition means, where an audit has changed them (settings.sql).
-- Result: name, one row per such setting
SELECT name
FROM pg_settings
WHERE name IN ('DateStyle', 'IntervalStyle', 'bytea_output', 'extra_float_digits', 'standard_conforming_strings')
  AND setting <> reset_val
ORDER BY name
