"""The search: pieces of work, in which order, in which processes, for how long."""
