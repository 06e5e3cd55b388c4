"""From files to objects: documents, fields, and how each kind is read."""
