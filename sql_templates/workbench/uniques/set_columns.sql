-- The columns of each numbered column set, by their places; an empty set has the place -1.
CREATE TABLE set_columns (set_number BIGINT, place INTEGER)
