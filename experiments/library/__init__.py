"""The library: instances of each family with the best that is known of them, and who proved it."""
