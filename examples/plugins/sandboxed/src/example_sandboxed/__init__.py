"""An executor that starts no program where it cannot be confined in full."""
