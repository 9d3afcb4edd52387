"""What several stations do together: diagnose and compare, plan, apply and resume, mend, undo, lock, run and diagnose.

Nothing is printed and nothing is parsed here: a front end passes requests in and renders what comes back, and whoever is
asked and notified meanwhile is a `Dialogue`.
"""
