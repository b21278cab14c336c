-- The size of an attached database on disk.
-- Parameters: :catalog  its name
-- Result: one row: bytes
SELECT block_size * total_blocks AS bytes FROM pragma_database_size() WHERE database_name = :catalog
