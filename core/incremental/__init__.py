"""What is kept from cycle to cycle, so that only what changed is worked out again."""
