"""What this distribution registers."""
