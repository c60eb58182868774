"""What a link means among the files there are, and how links follow a move. Pure."""
