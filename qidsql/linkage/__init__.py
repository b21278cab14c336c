"""Which attributes of a source's tables are one, or follow from one another: by its views, and by their values."""
