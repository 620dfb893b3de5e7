"""Laws of motion from a context.data directory: derivatives, sums over neighbours, own rates."""
