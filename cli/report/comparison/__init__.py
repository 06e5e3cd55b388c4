"""What a comparison looks like: text, markdown, CSV, and a page."""
