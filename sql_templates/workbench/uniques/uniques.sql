-- The minimal unsafe combinations found so far: a row pattern, and the number of a column set.
CREATE TABLE uniques (pattern INTEGER, set_number BIGINT)
