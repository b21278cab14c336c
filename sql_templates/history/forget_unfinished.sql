-- A table of a run that is recorded needs no resuming.
DELETE FROM unfinished WHERE source = :source AND table_name = :table_name
