"""Run generated or supplied Python programs as child processes of a sciharness run."""

__version__ = "0.1.0"
