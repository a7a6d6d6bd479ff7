"""The rows that a check produces, and what the folder says in which they are kept.

``rows`` has the types, ``schemas`` the columns of the three tables, ``manifest`` the list of files
with sizes and checksums that says that results are whole. ``locking`` lets one process at a time
into a folder.
"""
