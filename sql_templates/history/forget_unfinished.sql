-- A table of a run that is recorded needs no resuming.
-- Parameters: :source, :table_name
DELETE FROM unfinished WHERE source = :source AND table_name = :table_name
