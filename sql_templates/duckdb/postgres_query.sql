-- A query that an attached Postgres answers: only its rows come here.
-- Parameters: :database, :query  the name of the attached database, and the text in Postgres' own SQL
SELECT
  *
FROM POSTGRES_QUERY(:database, :query)
