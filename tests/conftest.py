"""What holds for every test: a rule is searched for exceptions, not timed.

Hypothesis fails an example that takes longer than 0.2 s, and a rule whose examples take long to make. On a machine that
does other things besides, any example may.
"""

from hypothesis import HealthCheck, settings

settings.register_profile("baza", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("baza")
