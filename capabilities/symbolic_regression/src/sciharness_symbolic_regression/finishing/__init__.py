"""From a formula text to a candidate: fitted, reduced, recognised, judged, chosen."""
