"""Arithmetic alone: class profiles, criteria, proportions, least squares."""
