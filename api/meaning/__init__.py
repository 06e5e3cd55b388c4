"""The meaning of labels, selectors and tolerations."""
