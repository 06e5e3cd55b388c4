"""The page of a simulation: where pods go, who finds no place and why, before and after."""
