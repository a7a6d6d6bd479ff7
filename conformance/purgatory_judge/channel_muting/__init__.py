"""The judge of a server's channels: ``judge`` follows the model, ``blame`` names the rule."""
