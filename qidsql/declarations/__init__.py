"""Declares options and results once, as fields of frozen dataclasses; independent of any command."""
