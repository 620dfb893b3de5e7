"""Pictures and words that operations hand to the report."""
