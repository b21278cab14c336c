-- Rows that no column set could place lose everything.
INSERT INTO shares SELECT pattern, 0, size FROM unplaced
