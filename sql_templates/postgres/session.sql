-- The server version, role, time zone and database of this session.
-- Result: version, role_name, time_zone, hiding_setting (one that leaves damaged rows out without an error), is_standby, takes_temporary_tables, database_name
SELECT
  current_setting('server_version') AS version,
  current_user AS role_name,
  current_setting('TimeZone') AS time_zone,
  (
    SELECT MIN(setting.name)
    FROM pg_settings AS setting
    WHERE setting.name IN ('zero_damaged_pages', 'ignore_checksum_failure') AND setting.setting = 'on'
  ) AS hiding_setting,
  pg_is_in_recovery() AS is_standby,
  has_database_privilege(current_database(), 'TEMPORARY') AS takes_temporary_tables,
  current_database() AS database_name
