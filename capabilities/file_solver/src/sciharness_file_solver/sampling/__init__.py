"""Design of experiments on a solver: where to ask it, and what it answered."""
