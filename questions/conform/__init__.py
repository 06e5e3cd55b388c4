"""How many cases that an original scheduler decided come out as it decided."""
