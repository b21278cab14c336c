"""Tests of qidsql.generalization."""
