"""Surrogates of a solver, and the policy that says where they may answer."""
