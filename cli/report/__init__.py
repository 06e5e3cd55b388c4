"""What results look like: tables and pages."""
