"""A plugin that breaks every rule once."""
