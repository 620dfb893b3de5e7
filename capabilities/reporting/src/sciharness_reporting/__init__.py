"""Reports for sciharness: one offline HTML page, Markdown, and the plots of both."""

__version__ = "0.1.0"
