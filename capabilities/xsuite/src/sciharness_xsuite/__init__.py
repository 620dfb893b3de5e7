"""Particle tracking with Xsuite for sciharness: survival, dynamic aperture, survival models."""

__version__ = "0.1.0"
