"""What protects a table: columns withheld, cells suppressed, and the copies that are written."""
