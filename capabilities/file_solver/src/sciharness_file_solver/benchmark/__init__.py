"""The benchmark of a hybrid against its solver."""
