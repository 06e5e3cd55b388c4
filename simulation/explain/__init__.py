"""Why a pod goes where it goes: explanations as values, of which the command line makes tables and JSON."""
