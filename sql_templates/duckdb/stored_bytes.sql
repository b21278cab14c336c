-- The size of each column of a table, about: segments share the blocks that they are in; what is not written to disk yet,
-- such as rows of csv files, is taken for 8 bytes a value, a text for 16.
-- Parameters: :table  its name as text;  :catalog  the name of its database
-- Result: column_name, bytes
WITH segments AS (
  SELECT
    column_name,
    segment_type,
    count,
    persistent,
    block_id,
    len(additional_block_ids) AS more_blocks,
    COUNT(*) OVER (PARTITION BY block_id) AS in_block
  FROM pragma_storage_info(:table)
)
SELECT
  column_name,
  CAST(SUM(
    CASE
      WHEN persistent THEN block_size * (more_blocks + CASE WHEN block_id >= 0 THEN 1 / in_block ELSE 0 END)
      WHEN segment_type = 'VALIDITY' THEN 0
      ELSE count * CASE WHEN segment_type = 'VARCHAR' THEN 16 ELSE 8 END
    END
  ) AS BIGINT) AS bytes
FROM segments, (SELECT block_size FROM pragma_database_size() WHERE database_name = :catalog)
GROUP BY ALL
