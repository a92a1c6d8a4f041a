"""The coupler that joins matter and rigid bodies."""
