"""Documents of audits and runs in the formats of people and machines."""
