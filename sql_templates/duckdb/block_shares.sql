-- Result: the shares of one block as they are: pattern, kept, size
SELECT pattern, kept, size FROM blocks WHERE block = :block
