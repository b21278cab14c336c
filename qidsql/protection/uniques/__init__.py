"""Minimal unsafe combinations of values [Wilson, 2]."""
