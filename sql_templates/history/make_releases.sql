-- The table releases: what left, a row for each statement that somebody recorded after signing it. No cell values.
--   of_table    the table of the policy
--   name        of the released file or table, place: where it lies, keyed: a copy with a key, or empty
--   digest      of its bytes, as JSON
--   valid_until a day, or empty
--   signature   of the statement, or empty
--   source_columns  of the table of the policy when it was last audited: their types by name, as JSON; empty if never
--   document    the statement, as it was signed
CREATE TABLE IF NOT EXISTS releases (
  recorded TIMESTAMP NOT NULL,
  of_table TEXT NOT NULL,
  name TEXT NOT NULL,
  place TEXT NOT NULL,
  keyed TEXT NOT NULL,
  digest TEXT NOT NULL,
  verdict TEXT NOT NULL,
  recipient TEXT NOT NULL,
  valid_until TEXT NOT NULL,
  signature TEXT NOT NULL,
  source_columns TEXT NOT NULL,
  document TEXT NOT NULL
)
