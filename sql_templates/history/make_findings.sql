-- The table findings: the findings of every audit, and how each compares with the run compared with.
--   finding     its id, the same in every run
--   kind        k-anonymity, below-k, key, distinct, separation, rows-below-k, direct-identifier
--   column_set  the names of the columns, as a JSON list
--   smallest    the smallest class; rows_below_k in classes below the k of the policy
--   state       new, worse, better, unchanged, gone, excepted, policy changed
CREATE TABLE IF NOT EXISTS findings (
  run TEXT NOT NULL,
  place BIGINT NOT NULL,
  finding TEXT NOT NULL,
  kind TEXT NOT NULL,
  column_set TEXT NOT NULL,
  state TEXT NOT NULL,
  smallest BIGINT,
  rows_below_k BIGINT,
  share_below_k DOUBLE,
  exception TEXT,
  PRIMARY KEY (run, finding)
)
