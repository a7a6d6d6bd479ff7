"""The doctor: talks to an adapter one request at a time and says what to mend.

It checks that every request has its reply, of the right types, with all that was declared, and that
scripts are carried out. Whether the implementation behind it does what the rules say, the suite
judges; the doctor notes what an adapter easily gets wrong. Where an adapter fails, the doctor says
so, starts it again and goes on with the next question.
"""
