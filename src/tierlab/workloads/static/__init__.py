"""One static page: what a web server does alone."""
