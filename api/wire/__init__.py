"""Objects as JSON in the original's form."""
