"""Parts of the reports at a terminal."""
