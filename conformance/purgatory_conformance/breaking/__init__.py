"""Planting a defect to see who catches it."""
