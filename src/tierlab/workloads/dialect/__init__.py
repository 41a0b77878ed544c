"""Tables declared once, and loaded by each database server's own means."""
