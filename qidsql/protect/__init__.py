"""Protections, one per file: each returns a frozen plan (what, at what cost, how good), and applies nothing."""
