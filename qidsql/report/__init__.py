"""A report as a function from a result to blocks."""
