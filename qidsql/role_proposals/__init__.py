"""What each column of a database probably is to an audit, with the reason: for a person to correct. Reads no cell."""
