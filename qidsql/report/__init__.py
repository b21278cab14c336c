"""One format per file: each renders a finished result as text."""
