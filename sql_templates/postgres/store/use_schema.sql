-- Unqualified names are meant in this schema and in no other.
-- Parameters: :schema
SELECT set_config('search_path', quote_ident(:schema), TRUE)
