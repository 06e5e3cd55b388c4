"""From options to a scheduler or a comparison of several."""
