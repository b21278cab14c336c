-- The table deliveries: alert messages not yet delivered; a row is deleted when its message is delivered.
--   failure     why the last attempt failed, in words of qidsql; empty before the first attempt
--   document    the message, as JSON
CREATE TABLE IF NOT EXISTS deliveries (
  message TEXT NOT NULL,
  alert TEXT NOT NULL,
  run TEXT NOT NULL,
  since TIMESTAMP NOT NULL,
  attempts BIGINT NOT NULL,
  failure TEXT NOT NULL,
  document TEXT NOT NULL
)
