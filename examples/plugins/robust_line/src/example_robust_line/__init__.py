"""A capability for sciharness: lines through data with gross errors."""
