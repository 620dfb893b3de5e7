"""How far results depend on integrator and kick count."""
