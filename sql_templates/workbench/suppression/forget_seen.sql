-- Counting starts again for the patterns that are left.
UPDATE unverified SET seen = 0
