"""Details of many decisions, for those who read them at once: only what they look at is worked out."""
