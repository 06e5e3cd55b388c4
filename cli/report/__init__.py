"""Reports of results: tables and pages."""
