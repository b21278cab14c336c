"""Scheduled audits: the policy file, runs over many tables, their changes, history and alerts."""
