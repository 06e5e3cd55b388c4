"""What labels, selectors and tolerations mean."""
