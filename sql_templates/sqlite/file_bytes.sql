-- The size of the database file.
-- Result: one row: bytes
SELECT pages.page_count * size.page_size AS bytes FROM pragma_page_count AS pages, pragma_page_size AS size
