"""Alerts on changes of verdicts: by webhook, command and mail, kept until they arrive."""
