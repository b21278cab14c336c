"""Which attributes of a source's tables are the same, or depend on one another: by its views, and by their values."""
