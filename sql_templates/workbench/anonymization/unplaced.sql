-- The rows that have no place yet.
CREATE OR REPLACE TABLE unplaced AS SELECT * FROM patterns
