"""Abstract values: integers, addresses, memory."""
