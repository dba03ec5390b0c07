"""Hostile code in the place of ours, in each kind of child process."""
