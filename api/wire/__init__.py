"""Objects as JSON: as they came, with what has changed."""
