"""Legacy solvers as pinned tools for sciharness: adapters and hybrid surrogates."""

__version__ = "0.1.0"
