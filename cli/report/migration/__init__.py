"""What a migrated Policy looks like: the check in text, and the report that is filed."""
