"""Families of models: how each is fitted by scikit-learn and exported."""
