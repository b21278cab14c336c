-- Result: the shares: pattern, kept, size
SELECT pattern, kept, size FROM shares
