"""Options and results, each declared once, as the fields of frozen dataclasses. Knows nothing of what they mean."""
