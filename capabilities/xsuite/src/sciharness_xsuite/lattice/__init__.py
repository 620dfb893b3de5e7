"""Lattices: data-only reading of ``Line.to_dict`` JSON, by rules of our own."""

from sciharness_xsuite.lattice.load import read_lattice
from sciharness_xsuite.lattice.record import Lattice, Reference

__all__ = ["Lattice", "Reference", "read_lattice"]
