"""What was busy, saturated or idle? From the samples."""
