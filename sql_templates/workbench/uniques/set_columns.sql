-- The columns of each numbered column set, by their places; a set without columns has the place -1.
CREATE TABLE set_columns (set_number BIGINT, place INTEGER)
