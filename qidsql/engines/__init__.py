"""A folder for each engine, and what they share: sessions, budgets, the registry of kinds."""
