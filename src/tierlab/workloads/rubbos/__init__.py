"""RUBBoS, the bulletin board: schema, seeded data, published mixes and deployment shape."""
