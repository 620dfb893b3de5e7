"""The research loop: gate, budget, criteria, reasoner and delivery."""
