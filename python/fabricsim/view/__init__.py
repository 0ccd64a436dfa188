"""A local page that shows results while they come in and after; `fabricsim view` serves it, and `fabricsim[view]` brings what it needs.

`server.py` answers, `guard.py` refuses who may not ask, `places.py` what may not be read, `folders.py` reads. The page is in ``js/``, with the
formatting, theme and tables of the report.
"""
