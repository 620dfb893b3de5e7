"""Source of the impl-v1 test vector; it is built, never imported."""

raise RuntimeError("a test imported what may only be read")
