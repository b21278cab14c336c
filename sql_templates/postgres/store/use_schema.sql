-- Unqualified names are meant in this schema and in no other.
SELECT set_config('search_path', quote_ident(:schema), TRUE)
