"""From files to objects: documents, fields, the tables of each kind."""
