"""A well-behaved plugin for the tests."""

__version__ = "1.0"
