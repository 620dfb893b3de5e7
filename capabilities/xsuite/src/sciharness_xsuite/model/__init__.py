"""Survival models: trained on tracked particles, calibrated, written as a predictor."""
