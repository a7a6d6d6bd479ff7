"""The rows that a check produces, and the manifest of the folder that holds them.

``rows`` has the types, ``schemas`` the columns of the three tables, ``manifest`` the list of files
with sizes and checksums that says that results are whole. ``locking`` lets one process at a time
into a folder.
"""
