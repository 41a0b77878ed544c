"""Up to which load does a system do what it has to, and in which trials is that found?"""
