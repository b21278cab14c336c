"""The command line: its app, the flow that all commands share, and the commands that look at runs and shells."""
