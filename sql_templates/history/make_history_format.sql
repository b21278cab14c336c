-- The table history_format: one row, the number of this layout; a qidsql that does not know it keeps its hands off.
CREATE TABLE IF NOT EXISTS history_format (
  format BIGINT NOT NULL
)
