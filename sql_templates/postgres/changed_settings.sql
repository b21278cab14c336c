-- The settings that affect the meaning of a text in a condition and were changed by the audit (settings.sql).
-- Result: name, one row per such setting
SELECT name
FROM pg_settings
WHERE name IN ('DateStyle', 'IntervalStyle', 'bytea_output', 'extra_float_digits', 'standard_conforming_strings')
  AND setting <> reset_val
ORDER BY name
