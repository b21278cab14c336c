"""Attributes as a graph: who stands between a person and a secret."""
