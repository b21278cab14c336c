-- The kinds of JSON values in one column, inside json_kinds.sql: DuckDB's types, and for strings whether they look like
-- dates or times.
-- Parameters: :number  the column's, from 1
-- Result: one value: the list of distinct kinds
SELECT LIST(DISTINCT
  CASE
    WHEN LIST_EXTRACT(types, :number) <> 'VARCHAR' THEN LIST_EXTRACT(types, :number)
    WHEN REGEXP_FULL_MATCH(LIST_EXTRACT(texts, :number), '\d{4}-\d\d-\d\d') THEN 'DATE'
    WHEN REGEXP_FULL_MATCH(LIST_EXTRACT(texts, :number), '\d\d:\d\d:\d\d(\.\d{1,6})?') THEN 'TIME'
    WHEN REGEXP_FULL_MATCH(LIST_EXTRACT(texts, :number), '\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?')
      THEN 'TIMESTAMP'
    ELSE LIST_EXTRACT(types, :number)
  END
)
