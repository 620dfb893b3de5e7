"""One small working example of each hook of sciharness."""
