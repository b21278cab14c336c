-- The table history_format: the number of this layout, the largest where an older one was
-- written before; a qidsql that does not know it keeps its hands off.
CREATE TABLE IF NOT EXISTS history_format (
  format BIGINT NOT NULL
)
