"""The command line: one generic set of commands, to which each family gives one description."""
