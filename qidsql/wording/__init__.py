"""Formats numbers, ratios, names and options as text."""
