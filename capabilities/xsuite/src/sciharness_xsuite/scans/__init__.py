"""Scans: apertures, boundaries and tunes over one to three parameters of lattice or beam."""
