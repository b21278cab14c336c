"""SQL as syntax trees: templates, the statements made of them, and what engines cannot share."""
