"""Training: rows, folds, selection, export, and the operation itself."""
