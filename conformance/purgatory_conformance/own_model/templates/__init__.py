"""Models to begin with: each agrees with the rules, and is there to be copied and changed."""
