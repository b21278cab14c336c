-- The auditor's role: it may only log in and SELECT from the audited tables.
\set ON_ERROR_STOP on
\set password `cat /run/secrets/auditor_password`
BEGIN;

-- By default everyone may connect and create temporary tables.
REVOKE ALL ON DATABASE clinic FROM PUBLIC;

CREATE ROLE auditor LOGIN PASSWORD :'password'
  NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 4;
ALTER ROLE auditor SET default_transaction_read_only = on;

GRANT CONNECT ON DATABASE clinic TO auditor;
GRANT USAGE ON SCHEMA clinic, research TO auditor;
GRANT SELECT ON clinic.patients, clinic.visits, research.patients TO auditor;

COMMIT;
