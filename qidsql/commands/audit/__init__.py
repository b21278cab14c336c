"""qidsql audit: what is asked, the work, the result and its report."""
