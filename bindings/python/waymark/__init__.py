# SPDX-License-Identifier: MIT
"""waymark - reads the traces of any tracer: CTF (LTTng, waymark...), perf.data, trace.dat.

    import waymark

    with waymark.open("trace") as trace:
        for event in trace.events("sched:*", filter="prev_prio < 100"):
            print(event.time_ns, event.name, event.comm, event["next_comm"])
        for batch in trace.columns("$time", "prev_prio"):
            total += sum(batch["prev_prio"].data)

Everything here may be used from several threads, each with iterators of its own.
What cannot be opened, or was asked for wrongly, raises waymark.Error with a
sentence; what is damaged inside of a trace is in trace.faults.
"""
from ._library import Error, version
from ._columns import Batch, Column
from ._event import Event, Label
from ._trace import Fault, Field, Info, Loss, Stream, Trace, Type, open

__all__ = ["Batch", "Column", "Error", "Event", "Fault", "Field", "Info", "Label", "Loss",
           "Stream", "Trace", "Type", "open", "version"]
__version__ = version()
