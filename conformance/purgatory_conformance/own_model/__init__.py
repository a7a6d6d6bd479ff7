"""A model that somebody wrote in a file of their own, compared with the model of the rules."""
