"""The options of each question, declared once. Flags, help, checks and Python's signature follow; nothing heavy is imported for them."""
