-- The table secrets: one row, a secret from which the hashes of fingerprints are keyed. Without it they tell nothing.
CREATE TABLE IF NOT EXISTS secrets (secret TEXT NOT NULL)
