"""Source text that goes into generated files, written as ordinary modules of its own."""
