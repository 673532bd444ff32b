"""For all tests: what hypothesis tries is the same in every run, so that one that passed passes again.

`HYPOTHESIS_PROFILE=explore make test` tries something new each time; what it finds belongs into the test as an example.
"""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("explore", settings.get_profile("default"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
