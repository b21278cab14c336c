"""SQL as syntax trees: templates, statements built from them, and the dialects of engines."""
