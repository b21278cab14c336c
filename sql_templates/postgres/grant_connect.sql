-- Lets a role connect to a database.
-- Parameters: :database, :role
GRANT CONNECT ON DATABASE :database TO :role
