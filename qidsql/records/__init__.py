"""Dataclasses that are cheap to define."""
