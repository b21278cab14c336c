-- The table table_audits: one row per table of a run, in the order of the policy file (place).
--   source      its name in the policy file, source_label the source itself (never a password)
--   engine, snapshot, started, seconds, statements, row_count, entities, policy   of the audit; NULL if it failed
--   k           the k that the policy requires; smallest the smallest class of all audited columns together
--   rows_below_k, share_below_k   in classes of fewer than k
--   document    the table in the run document: JSON, compressed by zlib (qidsql report RUN --format json writes it)
CREATE TABLE IF NOT EXISTS table_audits (
  run TEXT NOT NULL,
  place BIGINT NOT NULL,
  source TEXT NOT NULL,
  source_label TEXT NOT NULL,
  table_name TEXT NOT NULL,
  owner TEXT,
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  error TEXT,
  resumed BOOLEAN NOT NULL,
  engine TEXT,
  snapshot TEXT,
  started TIMESTAMP,
  seconds DOUBLE,
  statements BIGINT,
  row_count BIGINT,
  entities BIGINT,
  k BIGINT,
  smallest BIGINT,
  rows_below_k BIGINT,
  share_below_k DOUBLE,
  policy TEXT,
  document VARBINARY NOT NULL,
  PRIMARY KEY (run, place)
)
