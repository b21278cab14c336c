-- The demo's visits: several per patient, so that a person has more than one row. Drawn by md5, like the patients.
-- Parameters: :patients  the number of patients
CREATE TABLE visits AS
WITH numbered AS (
  SELECT id, md5('visit ' || CAST(id AS VARCHAR)) AS dice
  FROM range(1, 3 * :patients + 1) AS numbers(id)
)
SELECT
  CAST(id AS INTEGER) AS visit_id,
  CAST(1 + CAST('0x' || substr(dice, 1, 6) AS INTEGER) % :patients AS INTEGER) AS patient_id,
  CAST(DATE '2025-01-01' + CAST('0x' || substr(dice, 7, 6) AS INTEGER) % 365 AS DATE) AS visit_date,
  list_extract(
    [
      'general medicine', 'emergency', 'cardiology', 'orthopaedics', 'paediatrics', 'gynaecology', 'neurology',
      'oncology', 'psychiatry', 'dermatology', 'infectious diseases', 'genetics'
    ],
    1 + CAST(floor(12 * power(CAST('0x' || substr(dice, 13, 5) AS INTEGER) / 1048576.0, 2)) AS INTEGER)
  ) AS ward
FROM numbered
