"""Planting a defect, and finding the checks that catch it."""
