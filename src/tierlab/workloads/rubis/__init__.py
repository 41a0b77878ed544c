"""RUBiS, the auction site: schema, seeded data, published mixes and deployment shape."""
