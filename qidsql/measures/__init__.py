"""Pure arithmetic: class profiles, criteria, proportions, least squares."""
