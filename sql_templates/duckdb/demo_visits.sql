-- The demo's visits: several per patient, so that rows repeat persons.
-- Parameters: :patients  how many patients
CREATE TABLE visits AS
SELECT
  CAST(number AS INTEGER) AS visit_id,
  CAST(1 + hash(number, 'who') % :patients AS INTEGER) AS patient_id,
  CAST(DATE '2025-01-01' + CAST(hash(number, 'day') % 365 AS INTEGER) AS DATE) AS visit_date,
  'ward ' || CAST(1 + CAST(hash(number, 'ward') % 12 AS INTEGER) AS VARCHAR) AS ward
FROM range(1, 3 * :patients + 1) AS numbers(number)
