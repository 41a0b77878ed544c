"""Olio of CloudStone, the calendar of social events: schema, seeded data, mix and deployment."""
