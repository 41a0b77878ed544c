"""Which trials are alike, and do those of two groups differ?"""
