"""A home with the toy plugin for each test, and the shapes that commands print."""

from homes import confined, conforms, fresh, harness, install, prepared, site

__all__ = ["confined", "conforms", "fresh", "harness", "install", "prepared", "site"]
