"""The doctor: talks to an adapter one request at a time and says line by line what is right.

It checks form alone: that every request has its reply, of the right types, with all that was
declared. Whether the implementation behind it does what the rules say, the suite judges. Where an
adapter fails, the doctor says so, starts it again and goes on with the next question.
"""
