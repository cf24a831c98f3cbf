# SPDX-License-Identifier: MIT
"""Recording and counting: <waymark/record.h>."""
import errno
import os
from collections import namedtuple
from ctypes import (CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int, c_int32,
                    c_uint32, c_uint64, c_void_p)

from . import _event
from ._library import (Closing, ErrorStruct, LossStruct, Sized, check, declare, lib, strings,
                       text)
from ._list import numbers
from ._trace import Field, Type

SAY = CFUNCTYPE(None, c_char_p, c_void_p)
MODES = ("discard", "overwrite", "block")
CHAINS = (None, "frames", "stack")
CLOCKS = ("usual", "monotonic")


class OptionsStruct(Sized):
    _fields_ = [("folder", c_char_p), ("command", POINTER(c_char_p)), ("pids", POINTER(c_int32)),
                ("nr_pids", c_uint32), ("tids", POINTER(c_int32)), ("nr_tids", c_uint32),
                ("everything", c_int), ("cpus", POINTER(c_int32)), ("nr_cpus", c_uint32),
                ("mode", c_int), ("buffer_bytes", c_uint64), ("preload", c_char_p),
                ("ctf", c_uint32), ("say", SAY), ("data", c_void_p)]


class HowStruct(Sized):
    _fields_ = [("filter", c_char_p), ("with_", c_uint32), ("frequency", c_uint64),
                ("period", c_uint64), ("chain", c_int), ("stack_bytes", c_uint32),
                ("every_ns", c_uint64)]


class TotalsStruct(Sized):
    _fields_ = [("events", c_uint64), ("kernel_events", c_uint64), ("samples", c_uint64),
                ("lost", c_uint64), ("bytes", c_uint64), ("duration_ns", c_uint64),
                ("nr_processes", c_uint32), ("command", c_int32), ("status", c_int),
                ("is_over", c_int), ("err", c_int), ("reserved", c_uint32)]


class CountOptionsStruct(Sized):
    _fields_ = [("events", POINTER(c_char_p)), ("nr_events", c_uint32),
                ("command", POINTER(c_char_p)), ("pids", POINTER(c_int32)), ("nr_pids", c_uint32),
                ("everything", c_int), ("alone", c_int), ("filters", POINTER(c_char_p)),
                ("tids", POINTER(c_int32)), ("nr_tids", c_uint32), ("say", SAY),
                ("data", c_void_p), ("preload", c_char_p)]


class CounterStruct(Sized):
    _fields_ = [("name", c_char_p), ("value", c_uint64), ("counted", c_uint64),
                ("enabled_ns", c_uint64), ("running_ns", c_uint64), ("unit", c_char_p),
                ("scale", c_double), ("is_user_only", c_int), ("err", c_int), ("why", c_char_p)]


_error = POINTER(ErrorStruct)
declare({
    "record": (c_int, POINTER(OptionsStruct), POINTER(c_void_p), _error),
    "record_close": (None, c_void_p),
    "record_event": (c_int, c_void_p, c_char_p, POINTER(HowStruct), _error),
    "record_exclude": (c_int, c_void_p, c_char_p, _error),
    "record_trigger": (c_int, c_void_p, c_char_p, _error),
    "record_synthetic": (c_int, c_void_p, c_char_p, _error),
    "record_stacks": (c_int, c_void_p, c_int, _error),
    "record_clock": (c_int, c_void_p, c_int, _error),
    "record_mark": (c_int, c_void_p, c_char_p, _error),
    "record_start": (c_int, c_void_p, _error),
    "record_wait": (c_int, c_void_p, c_int, _error),
    "record_stop": (c_int, c_void_p, _error),
    "record_snapshot": (c_int, c_void_p, _error),
    "record_next": (c_int, c_void_p, c_int, POINTER(c_void_p), _error),
    "record_comm": (c_void_p, c_void_p, c_void_p, POINTER(c_uint32)),
    "record_totals": (c_int, c_void_p, POINTER(TotalsStruct)),
    "record_loss": (c_int, c_void_p, c_uint32, POINTER(LossStruct)),
    "type_number": (c_uint32, c_void_p),
    "count": (c_int, POINTER(CountOptionsStruct), POINTER(c_void_p), _error),
    "count_close": (None, c_void_p),
    "count_read": (c_int, c_void_p),
    "count_wait": (c_int, c_void_p, c_int, POINTER(c_int)),
    "counter": (c_int, c_void_p, c_uint32, POINTER(CounterStruct)),
    "counter_thread": (c_int, c_void_p, c_uint32, c_uint32, POINTER(c_int32),
                       POINTER(CounterStruct)),
})

Totals = namedtuple("Totals", "events kernel_events samples lost bytes duration_ns nr_processes "
                              "command status is_over losses")
Counter = namedtuple("Counter", "name value counted enabled_ns running_ns unit scale "
                                "is_user_only error")


def _command(words):
    """A NULL-terminated array, or None without words."""
    return (c_char_p * (len(words) + 1))(*[os.fsencode(w) for w in words], None) if words else None


def _milliseconds(seconds):
    return -1 if seconds is None else int(seconds * 1000)


class _LiveTypes:
    """Types of a running recording: new ones appear, and addresses are reused."""

    def __init__(self):
        self.known = {}

    def __getitem__(self, address):
        key = (address, lib.type_number(address), lib.type_name(address))
        if key not in self.known:
            self.known[key] = Type(address, key[1])
        return self.known[key]

    @property
    def by_address(self):
        return self

    def field(self, address):
        return Field(address)


class Recording(Closing):
    """A recording, from waymark.record(): add events, start it, then wait or iterate."""

    def __init__(self, options):
        error, handle = ErrorStruct(), c_void_p()
        self.handle = None
        check(lib.record(byref(options), byref(handle), byref(error)), error)
        self.handle, self.options = handle, options
        self.source = _event.Source(handle, _LiveTypes(), lib.record_comm, is_live=True)

    def close(self):
        """Ends the recording; the command continues."""
        if self.handle:
            lib.record_close(self.handle)
        self.handle = None

    def _call(self, function, *arguments):
        error = ErrorStruct()
        if not self.handle:
            raise ValueError("the recording was closed")
        got = function(self.handle, *arguments, byref(error))
        if got < 0 and got != -errno.EAGAIN:
            check(got, error)
        return got

    def event(self, name, filter=None, cpu=False, stack=False, frequency=0, period=0, chain=None,
              stack_bytes=0, every_ns=0):
        """Adds a name with *, ? and [...]; in a running recording, changes its events."""
        how = HowStruct(filter=None if filter is None else os.fsencode(filter),
                        with_=(1 if cpu else 0) | (2 if stack else 0), frequency=frequency,
                        period=period, chain=CHAINS.index(chain), stack_bytes=stack_bytes,
                        every_ns=every_ns)
        self._call(lib.record_event, os.fsencode(name), byref(how))

    def exclude(self, name):
        self._call(lib.record_exclude, os.fsencode(name))

    def trigger(self, words):
        self._call(lib.record_trigger, os.fsencode(words))

    def synthetic(self, words):
        self._call(lib.record_synthetic, os.fsencode(words))

    def stacks(self, of_kernel=True):
        self._call(lib.record_stacks, int(of_kernel))

    def clock(self, name):
        """The clock of the trace: "usual", or "monotonic" for CLOCK_MONOTONIC; before the start."""
        self._call(lib.record_clock, CLOCKS.index(name))

    def mark(self, words):
        """Writes a text between the kernel's events; needs the event "ftrace:print"."""
        self._call(lib.record_mark, os.fsencode(words))

    def start(self):
        self._call(lib.record_start)

    def wait(self, seconds=None):
        """True when the recording is over, False when this many seconds have passed."""
        return self._call(lib.record_wait, _milliseconds(seconds)) == 1

    def stop(self):
        self._call(lib.record_stop)

    def snapshot(self):
        self._call(lib.record_snapshot)

    def next(self, seconds=None):
        """The next event of a recording without a folder; None after a timeout and at the end."""
        pointer = c_void_p()
        got = self._call(lib.record_next, _milliseconds(seconds), byref(pointer))
        return self.source.read(pointer.value) if got == 1 else None

    def __iter__(self):
        """Events live, until the recording is over."""
        return iter(self.next, None)

    @property
    def totals(self):
        """The totals of the recording; losses is a dict of the causes that lost events."""
        t, loss, losses, i = TotalsStruct(), LossStruct(), {}, 0
        check(lib.record_totals(self.handle, byref(t)), ErrorStruct())
        while lib.record_loss(self.handle, i, byref(loss)) == 0:
            if loss.count:
                losses[text(loss.cause)] = loss.count
            i += 1
        return Totals(t.events, t.kernel_events, t.samples, t.lost, t.bytes, t.duration_ns,
                      t.nr_processes, t.command, t.status, bool(t.is_over), losses)


def record(command=(), folder=None, events=(), pids=(), tids=(), everything=False, cpus=(),
           mode="discard", buffer_bytes=0, preload=None, ctf=1, say=None):
    """A recording to a folder or, without one, an iterator over live events.

    It records `command`, a list of words; or running processes or threads, or
    everything. events: names for Recording.event(); with them the recording is started
    at once, else by start(). say: a function that gets messages which are not errors.
    buffer_bytes: most memory for the events of each process, and the size of all rings of the
    kernel together; 0: 64 MiB, and for the rings a size that depends on the machine.
    """
    o = OptionsStruct()
    o.folder = None if folder is None else os.fsencode(folder)
    o.command = _command(command)
    o.pids, o.nr_pids = numbers(pids), len(pids)
    o.tids, o.nr_tids = numbers(tids), len(tids)
    o.cpus, o.nr_cpus = numbers(cpus), len(cpus)
    o.everything, o.mode, o.buffer_bytes = int(everything), MODES.index(mode), buffer_bytes
    o.preload = None if preload is None else os.fsencode(preload)
    o.ctf = ctf
    if say:
        o.say = SAY(lambda sentence, data: say(text(sentence)))
    recording = Recording(o)
    for name in events:
        recording.event(name)
    if events:
        recording.start()
    return recording


class Counters(Closing):
    """Running counters, from waymark.count()."""

    def __init__(self, options, say=None):
        error, handle = ErrorStruct(), c_void_p()
        self.handle = None
        self._say = SAY(lambda sentence, _: say(text(sentence))) if say else SAY()
        options.say = self._say  # the library keeps the pointer
        check(lib.count(byref(options), byref(handle), byref(error)), error)
        self.handle = handle

    def close(self):
        if self.handle:
            lib.count_close(self.handle)
        self.handle = None

    def wait(self, seconds=None):
        """The command's status as of os.wait(), -1 if unknown; None if it still runs."""
        status = c_int()
        while True:
            got = lib.count_wait(self.handle, _milliseconds(seconds), byref(status))
            if got < 0:
                check(got, ErrorStruct())
            if got or seconds is not None:
                return status.value if got else None

    def read(self):
        """Counter tuples by name; error is a sentence if one cannot count, else None."""
        one, found, i = CounterStruct(), {}, 0
        self._read()
        while lib.counter(self.handle, i, byref(one)) == 0:
            counter = _counter(one)
            found[counter.name] = counter
            i += 1
        return found

    def read_threads(self):
        """The same for each thread that existed at the start: {tid: {name: Counter}}."""
        one, tid, found, i = CounterStruct(), c_int32(), {}, 0
        self._read()
        while lib.counter(self.handle, i, byref(one)) == 0:
            k = 0
            while lib.counter_thread(self.handle, i, k, byref(tid), byref(one)) == 0:
                counter = _counter(one)
                found.setdefault(tid.value, {})[counter.name] = counter
                k += 1
            i += 1
        return found

    def _read(self):
        got = lib.count_read(self.handle)
        if got < 0:
            check(got, ErrorStruct())


def _counter(one):
    return Counter(text(one.name), one.value, one.counted, one.enabled_ns, one.running_ns,
                   None if one.unit is None else text(one.unit), one.scale,
                   bool(one.is_user_only), text(one.why) if one.err else None)


def count(*events, command=(), pids=(), tids=(), everything=False, alone=False, filters=None,
          preload=None, say=None):
    """Counters of a command, of processes, threads or everything, or of this process.

    filters: {event: filter}, see waymark-filter(7); the events are names of *events.
    preload: helpers for the command, as in record(). Programs are served within calls:
    call wait() or read() from time to time.
    """
    o, filters = CountOptionsStruct(), filters or {}
    unknown = set(filters) - set(events)
    if unknown:
        raise ValueError("a filter for an event that is not counted: " + ", ".join(sorted(unknown)))
    o.events, o.nr_events = strings(events), len(events)
    o.command = _command(command)
    o.pids, o.nr_pids = numbers(pids), len(pids)
    o.tids, o.nr_tids = numbers(tids), len(tids)
    o.everything, o.alone = int(everything), int(alone)
    o.preload = None if preload is None else os.fsencode(preload)
    if filters:
        o.filters = strings([filters.get(event) for event in events])
    return Counters(o, say)
