"""Survival data: particles of a declared domain, tracked and labelled."""
