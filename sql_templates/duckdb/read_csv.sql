-- CSV files (RFC 4180: fields quoted by ", a quote inside doubled). The whole dialect is settled by us and every line
-- counts: left to itself, DuckDB skips lines that do not fit its guess. An empty field is NULL, a quoted empty one an
-- empty text, as Postgres writes them; NULL, NA and the like are texts. Columns are matched by name; a file that lacks
-- one has NULL there.
-- Parameters: :paths      the files
--             :delimiter  the sign between two fields
--             :header     true when the first line holds the names
--             :hive       whether the files' folders stand for columns
--             :plain      true keeps every value as its text, false lets DuckDB guess the columns' types
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
