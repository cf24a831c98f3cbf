# SPDX-License-Identifier: MIT
"""waymark - records, counts and lists events, and reads traces of any supported tracer.

    import waymark

    with waymark.open("trace") as trace:
        for event in trace.events("sched:*", filter="prev_prio < 100"):
            print(event.time_ns, event.name, event.comm, event["next_comm"])
        for batch in trace.columns("$time", "prev_prio"):
            total += sum(batch["prev_prio"].data)

    for event in waymark.record(["ls", "/"], events=["syscall:openat"]):
        print(event.name, event.comm, event.fields)
    with waymark.count("page-faults", command=["true"]) as counters:
        counters.wait()
        print(counters.read())

A trace can be used by several threads, each with iterators of its own; a recording
or counters by one thread at a time.
A trace that cannot be opened and a wrong argument raise waymark.Error with a
sentence; damage inside of a trace is listed in trace.faults.
"""
from ._library import Error, version
from ._columns import Batch, Column
from ._event import Event, Label
from ._list import Listed, ListedField, ListedPlace, list_events
from ._record import Counter, Counters, Recording, Totals, count, record
from ._trace import Fault, Field, Info, Loss, Stream, Trace, Type, open

__all__ = ["Batch", "Column", "Counter", "Counters", "Error", "Event", "Fault", "Field", "Info",
           "Label", "Listed", "ListedField", "ListedPlace", "Loss", "Recording", "Stream", "Totals",
           "Trace", "Type", "count", "list_events", "open", "record", "version"]
__version__ = version()
