"""The command line `harness`."""
