"""Tracking: many turns of many particles, exact, fast, resumable, in one or more processes."""

from sciharness_xsuite.tracking.record import Tracked, loss_reason
from sciharness_xsuite.tracking.tracker import Tracker
from sciharness_xsuite.tracking.units import Sigmas, sigmas

__all__ = ["Sigmas", "Tracked", "Tracker", "loss_reason", "sigmas"]
