"""Where survival ends: along a direction, over angles, in momentum, and over parameters."""
