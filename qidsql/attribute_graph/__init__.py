"""Attributes as a graph: which attributes lie between a person and a secret."""
