"""What results look like: tables as text."""
