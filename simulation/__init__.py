"""What users run: simulations of a cluster, explanations, conformance cases, traces."""
