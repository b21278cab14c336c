"""The vocabulary that all rooms share: tables, policies, roles, options, results. No SQL, no engine, no screen."""
