"""Settings for all tests."""

from hypothesis import settings

# The same examples in every run, and no limit on time: a slow machine is not a failure.
settings.register_profile("schedlab", deadline=None, derandomize=True)
settings.load_profile("schedlab")
