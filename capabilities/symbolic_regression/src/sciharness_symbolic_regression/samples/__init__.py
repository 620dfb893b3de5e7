"""The rows that a search works on, what they came from, how noisy they are."""
