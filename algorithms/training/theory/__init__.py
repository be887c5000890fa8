"""What the lemmas and theorems promise, computed beside what runs show."""
