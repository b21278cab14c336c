-- The table profiles: the measures of every column of every audit, by itself.
--   role        what the column is to the audit; nulls, distinct_ratio, separation_ratio NULL where not measured
--   k           its smallest class; rows_at_risk in classes below the k of the policy
CREATE TABLE IF NOT EXISTS profiles (
  run TEXT NOT NULL,
  place BIGINT NOT NULL,
  column_name TEXT NOT NULL,
  column_type TEXT NOT NULL,
  role TEXT NOT NULL,
  nulls BIGINT,
  k BIGINT,
  classes BIGINT,
  rows_at_risk BIGINT,
  distinct_ratio DOUBLE,
  separation_ratio DOUBLE,
  PRIMARY KEY (run, place, column_name)
)
