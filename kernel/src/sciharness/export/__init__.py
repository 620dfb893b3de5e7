"""Export bundles: a run in one folder, verifiable anywhere."""
