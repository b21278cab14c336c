-- The table history_format: the number of this layout; if older layouts were written before, the largest number counts.
-- A qidsql that does not know this layout does not touch the history.
CREATE TABLE IF NOT EXISTS history_format (
  format BIGINT NOT NULL
)
