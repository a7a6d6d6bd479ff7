"""Running: cases on a subject, campaigns of cases, shrinking, and the verdict."""
