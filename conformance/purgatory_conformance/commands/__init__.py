"""The commands of the suite; ``commands`` registers those that have no module of their own."""
