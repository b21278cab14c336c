-- CSV files (RFC 4180: fields quoted by ", quotes inside doubled). The whole dialect is given explicitly and every line
-- counts: when DuckDB guesses the dialect, it skips lines that do not fit its guess. An empty field is NULL, a quoted
-- empty one an empty text, as Postgres writes them; NULL, NA and the like are texts. Columns are matched by name; a
-- file without one of them has NULL there.
-- Parameters: :paths      the files
--             :delimiter  the character between two fields
--             :header     true if the first line contains the column names
--             :hive       whether the folders of the files are columns (year=2024/)
--             :plain      true reads every value as text, false lets DuckDB detect the column types
-- Result: the files' columns under their own names
SELECT * FROM read_csv(
  :paths,
  delim = :delimiter,
  header = :header,
  all_varchar = :plain,
  union_by_name = true,
  hive_partitioning = :hive,
  hive_types_autocast = false,
  quote = '"',
  escape = '"',
  comment = '',
  skip = 0,
  allow_quoted_nulls = false,
  null_padding = false,
  ignore_errors = false,
  strict_mode = true
)
