"""Tests of qidsql.commands.protect."""
