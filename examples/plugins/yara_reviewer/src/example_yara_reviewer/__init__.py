"""A reviewer for sciharness: refuses packages that a YARA rule matches."""
