"""Legal ways that Kafka does not take, each module named after what it allows.

For the purgatory each module has one class, which extends the class of the module before it:

    walks             checks without order, that drop at their end, that go on behind exceptions
    meanwhile         calls of another thread while a callback stands still; attempts left to others
    watches           watches that do not try first, that arm first, that refuse a negative delay
    inline_executor   time-outs that run within the call that hands them over
    accounting        the exact count, amortised purges, purges that come when they like
    releases          looks at what is finished, and time-outs that are kept until they would be due
"""
