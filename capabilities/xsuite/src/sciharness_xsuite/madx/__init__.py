"""MAD-X texts to Xsuite JSON: checked as text first, then read by xtrack's parser in a child."""
