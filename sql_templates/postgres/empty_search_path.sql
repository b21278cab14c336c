-- Until the end of the transaction, the catalog writes every name with its schema.
SELECT set_config('search_path', '', TRUE) AS search_path
