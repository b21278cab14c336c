-- Pairs of patterns that both lose cells: the protector's blank cells match the protected pattern even if that pattern
-- keeps all its cells.
-- Parameters: :mask  the column set that it loses;  :agree  protector and protected agree on the others
-- Result: protector, protected
SELECT protector.pattern AS protector, protected.pattern AS protected
FROM suppressed AS protector
JOIN suppressed AS protected ON :agree AND protector.pattern <> protected.pattern
WHERE protector.mask = :mask
