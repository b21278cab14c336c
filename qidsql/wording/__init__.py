"""How numbers, ratios and names are written for people. Knows nothing of what they mean."""
