"""k-anonymization by suppression: rows identical to k - 1 others [Chakaravarthy et al.]."""
