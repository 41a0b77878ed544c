"""TPC-H: 22 queries of decision support, by streams of users, on PostgreSQL."""
