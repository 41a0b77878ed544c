"""What virtual machines have in common, whatever runs them."""
