"""What joins matter and rigid bodies."""
