"""Made-up documents whose truth is known by construction."""
