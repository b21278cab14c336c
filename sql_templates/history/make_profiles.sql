-- The table profiles: the measures of every single column in every audit.
--   role        the column's role in the audit; nulls, distinct_ratio, separation_ratio NULL if not measured
--   smallest    its smallest class; rows_below_k in classes below the k of the policy
CREATE TABLE IF NOT EXISTS profiles (
  run TEXT NOT NULL,
  place BIGINT NOT NULL,
  column_name TEXT NOT NULL,
  column_type TEXT NOT NULL,
  role TEXT NOT NULL,
  nulls BIGINT,
  smallest BIGINT,
  classes BIGINT,
  rows_below_k BIGINT,
  distinct_ratio DOUBLE,
  separation_ratio DOUBLE,
  PRIMARY KEY (run, place, column_name)
)
