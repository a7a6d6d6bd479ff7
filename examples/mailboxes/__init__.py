"""Mailboxes that threads and coroutines of one process receive from: each message goes to one.

``mailboxes`` has the mailboxes: one purgatory, in which a thread waits by an event of its own and a
coroutine by ``AsyncioPurgatory``. ``clients`` lets many of both receive until they are told to end.
``python -m mailboxes`` runs them and says who has received how many.
"""
