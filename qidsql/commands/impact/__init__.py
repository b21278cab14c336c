"""qidsql impact: what is asked, the work, the result and its report."""
