"""Applications to put under load: schema, data, mixes and deployment shape."""
