"""The translation of a Policy into a profile, with notes on everything that is not the same."""
