"""Claims about small instances of every model, told as stories where they are false."""
