"""From bytes to JSON values: files, gzip, JSON and YAML, all of them bounded."""
