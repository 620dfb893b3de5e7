"""First-party capability package."""
__version__ = "0.1.0"
