-- The database that docker/compose.yaml audits: a clinic with made-up people. 5,000 patients, 15,000 visits, and a view
-- for researchers. The data is the same on every run: each value is derived from the md5 of a number.
\set ON_ERROR_STOP on
BEGIN;

CREATE SCHEMA clinic;
CREATE SCHEMA research;
COMMENT ON SCHEMA clinic IS 'operational data of the clinic';
COMMENT ON SCHEMA research IS 'data for researchers';

-- An integer from 0 to `below` - 1, always the same for the same place.
CREATE FUNCTION pg_temp.pick(place text, below int) RETURNS int IMMUTABLE LANGUAGE sql
  AS $$ SELECT (('x' || substr(md5(place), 1, 7))::bit(28)::int % below) $$;

CREATE TABLE clinic.patients (
  patient_id int PRIMARY KEY,
  record_number text NOT NULL UNIQUE,
  birth_date date NOT NULL,
  zip_code text NOT NULL,
  sex text NOT NULL,
  occupation text
);
COMMENT ON TABLE clinic.patients IS 'one row for each person';
COMMENT ON COLUMN clinic.patients.record_number IS 'the number on the paper file';

INSERT INTO clinic.patients
SELECT
  n,
  'R-' || upper(substr(md5('record' || n), 1, 8)),
  date '1930-01-01' + pg_temp.pick('birth' || n, 32872),
  (ARRAY['1011', '1012', '1013', '1015', '1016', '1017', '1018', '1019', '1021', '1022'])[1 + pg_temp.pick('zip' || n, 10)],
  (ARRAY['f', 'm'])[1 + pg_temp.pick('sex' || n, 2)],
  (ARRAY['nurse', 'teacher', 'cook', 'clerk', 'driver', 'carpenter', NULL])[1 + pg_temp.pick('occupation' || n, 7)]
FROM generate_series(1, 5000) AS n;

CREATE TABLE clinic.visits (
  visit_id int PRIMARY KEY,
  patient_id int NOT NULL REFERENCES clinic.patients,
  visit_date date NOT NULL,
  ward text NOT NULL,
  diagnosis text NOT NULL
);
COMMENT ON TABLE clinic.visits IS 'one row for each visit; a person comes several times';

INSERT INTO clinic.visits
SELECT
  n,
  1 + pg_temp.pick('patient' || n, 5000),
  date '2025-01-01' + pg_temp.pick('day' || n, 600),
  (ARRAY['emergency', 'surgery', 'cardiology', 'eyes', 'children'])[1 + pg_temp.pick('ward' || n, 5)],
  (ARRAY['fracture', 'asthma', 'diabetes', 'cataract', 'hypertension', 'burn'])[1 + pg_temp.pick('diagnosis' || n, 6)]
FROM generate_series(1, 15000) AS n;
CREATE INDEX ON clinic.visits (patient_id);

-- The view for researchers: decades instead of dates of birth, shortened zip codes, no identifiers.
CREATE VIEW research.patients AS
SELECT (extract(year FROM birth_date)::int / 10) * 10 AS decade_of_birth, left(zip_code, 3) AS zip_area, sex
FROM clinic.patients;
COMMENT ON VIEW research.patients IS 'patients, coarsened';

COMMIT;
ANALYZE;
