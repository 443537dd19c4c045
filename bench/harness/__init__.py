"""What all benchmarks share: the server, the figures, and where a run was made."""
