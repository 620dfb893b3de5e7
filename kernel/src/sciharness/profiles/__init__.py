"""Profiles: what can be said of an attachment without running, importing or unpacking it."""
