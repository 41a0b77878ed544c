"""How fast was it for the users, for which requests was it slow, and where did their time go?"""
