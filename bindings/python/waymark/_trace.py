# SPDX-License-Identifier: MIT
"""Traces: their contents, and iterators over their events."""
import os
import threading
import weakref
from collections import namedtuple
from ctypes import byref, c_void_p

from . import _columns, _event
from ._library import (NO_NUMBER, NR_PARTS, READ_CORRELATE, READ_META, READ_UNORDERED, UNKNOWN,
                       Closing, Error, ErrorStruct, FaultStruct, InfoStruct, LossStruct, OptionsStruct,
                       StreamStruct, check, failed, get, lib, strings, text)

KINDS = ("unsigned", "signed", "bool", "float", "text", "bytes", "struct", "list", "choice",
         "optional")

Info = namedtuple("Info", "path format version begin_ns end_ns nr_packets is_epoch is_incomplete")
Stream = namedtuple("Stream", "file class_id instance trace cpu")
Loss = namedtuple("Loss", "count begin_ns end_ns cause stream is_packets")
Fault = namedtuple("Fault", "file offset reason")


class Field:
    """A field's name and kind; kind_name is "unsigned", "text", "list" etc."""
    __slots__ = ("handle", "name", "kind", "bits", "base", "is_enum")

    def __init__(self, handle):
        name = lib.field_name(handle)
        self.handle = handle
        self.name = None if name is None else text(name)
        self.kind = lib.field_kind(handle)
        self.bits = lib.field_bits(handle)
        self.base = lib.field_base(handle)
        self.is_enum = bool(lib.field_is_enum(handle))

    @property
    def kind_name(self):
        return KINDS[self.kind]

    @property
    def inside(self):
        """Members of a structure, options of a choice, the element of a list."""
        return [Field(lib.field_inside(self.handle, i))
                for i in range(lib.field_nr_inside(self.handle))]

    def __repr__(self):
        return f"<{self.name} {self.kind_name}>"


class Type:
    """A type of events: number, name, level, fields."""

    def __init__(self, handle, number):
        self.number = number
        self.name = text(lib.type_name(handle))
        self.level = lib.type_level(handle)
        self.is_meta = bool(lib.type_is_meta(handle))
        self.members = [[(Field(lib.type_field(handle, part, i)), lib.type_role(handle, part, i))
                         for i in range(lib.type_nr_fields(handle, part))]
                        for part in range(NR_PARTS)]
        self.plans = [_event.Plan(members) for members in self.members]
        self.fields = [field for field, role in self.members[_event.FIELDS]
                       if role == _event.IS_DATA]

    def __repr__(self):
        return f"<{self.name} {self.fields}>"


class _Types:
    """Types and fields by their addresses in the library."""

    def __init__(self, handle):
        self.list, self.by_address, self.fields = [], {}, {}
        for i in range(lib.nr_types(handle)):
            address = lib.type(handle, i)
            self.list.append(Type(address, i))
            self.by_address[address] = self.list[i]

    def field(self, address):
        field = self.fields.get(address)
        if field is None:
            field = self.fields[address] = Field(address)
        return field


class _Reader:
    """A reader of the library; closed with its trace at the latest."""

    def __init__(self, trace, options):
        error, handle = ErrorStruct(), c_void_p()
        check(lib.read(trace.handle, byref(options), byref(handle), byref(error)), error)
        self.handle = handle
        self.busy = threading.Lock()
        trace.readers.add(self)

    def check_open(self):
        if not self.handle:
            raise Error(0, "the trace was closed")

    def close(self):
        with self.busy:
            if self.handle:
                lib.reader_close(self.handle)
            self.handle = None


class Trace(Closing):
    """One or several traces, opened as one by waymark.open()."""

    def __init__(self, paths):
        error, handle = ErrorStruct(), c_void_p()
        self.handle = None
        self.readers = weakref.WeakSet()
        check(lib.open_all(strings(paths), len(paths), byref(handle), byref(error)), error)
        self.handle = handle
        self._types = _Types(handle)

    def close(self):
        """Ends all iterators and closes the trace."""
        for reader in list(self.readers):
            reader.close()
        if self.handle:
            lib.close(self.handle)
        self.handle = None

    def _open(self):
        if not self.handle:
            raise Error(0, "the trace was closed")
        return self.handle

    # --- contents

    @property
    def types(self):
        """A list of the types of events."""
        return self._types.list

    @property
    def infos(self):
        """An Info for each open trace."""
        one = [get(lib.info, InfoStruct, self._open(), i) for i in range(lib.nr_traces(self.handle))]
        return [Info(os.fsdecode(i.path), text(i.format), text(i.version), i.begin_ns, i.end_ns,
                     i.nr_packets, bool(i.is_epoch), bool(i.is_incomplete)) for i in one]

    @property
    def info(self):
        """The Info of the first trace."""
        return self.infos[0]

    @property
    def streams(self):
        one = [get(lib.stream, StreamStruct, self._open(), i)
               for i in range(lib.nr_streams(self.handle))]
        return [Stream(os.fsdecode(s.file), s.class_id, s.instance, s.trace, _event.known(s.cpu))
                for s in one]

    @property
    def losses(self):
        """Losses that the tracers reported; a count of None is an unknown number."""
        one = [get(lib.loss, LossStruct, self._open(), i)
               for i in range(lib.nr_losses(self.handle))]
        return [Loss(None if l.count == UNKNOWN else l.count, l.begin_ns, l.end_ns, text(l.cause),
                     None if l.stream == NO_NUMBER else l.stream, bool(l.is_packets)) for l in one]

    @property
    def faults(self):
        """Parts that could not be read, up to now."""
        return self._listed(lib.fault, lib.nr_faults)

    @property
    def warnings(self):
        """Violations of the format that cost no data, up to now."""
        return self._listed(lib.warning, lib.nr_warnings)

    def _listed(self, function, count):
        one = [get(function, FaultStruct, self._open(), i) for i in range(count(self._open()))]
        return [Fault(os.fsdecode(f.file), f.offset, text(f.reason)) for f in one]

    def word(self, key, trace=0):
        """A fact that the tracer recorded about itself or the machine ("hostname"), or None."""
        found = lib.word(self._open(), trace, os.fsencode(key))
        return None if found is None else text(found)

    # --- events

    def _reader(self, globs, filter=None, begin=None, end=None, meta=False, ordered=True,
                stream=None, share=None, fields=(), correlate=False):
        o = OptionsStruct()
        o.flags = ((READ_META if meta else 0) | (0 if ordered else READ_UNORDERED)
                   | (READ_CORRELATE if correlate else 0))
        o.events, o.nr_events = strings(globs), len(globs)
        o.fields, o.nr_fields = strings(fields), len(fields)
        o.filter = None if filter is None else os.fsencode(filter)
        if begin is not None:
            o.has_begin, o.begin_ns = 1, begin
        if end is not None:
            o.has_end, o.end_ns = 1, end
        if stream is not None:
            o.stream_plus_1 = stream + 1
        if share is not None:
            o.share, o.nr_shares = share
        self._open()
        return _Reader(self, o)

    def events(self, *globs, **options):
        """An iterator over events, in time order.

        globs: names, as for `waymark print -e`; default: all. Options: filter, an
        expression as for --filter; begin and end, times in ns, without the end itself;
        meta, also events about the recording; ordered=False, packet by packet; stream,
        only this stream; share=(i, n), the i-th of n equal parts, unordered only;
        correlate, merge clocks of unrelated origins, as if they had the same, instead of
        raising an Error.
        """
        return self._events(self._reader(globs, **options))

    def _events(self, reader):
        pointer, source = c_void_p(), _event.Source(reader.handle, self._types)
        try:
            while True:
                with reader.busy:
                    reader.check_open()
                    got = lib.next(reader.handle, byref(pointer))
                    if got < 0:
                        failed(got)
                    if not got:
                        return
                    event = source.read(pointer.value)
                yield event
        finally:
            reader.close()

    def __iter__(self):
        return self.events()

    def columns(self, *names, events=(), kinds=None, rows=65536, **options):
        """An iterator over batches of columns, each of up to `rows` rows.

        names: fields, or $time, $cpu, $pid, $tid, $type (its number), $stream, $comm.
        kinds: {name: kind}, "int", "uint", "float" or "text", to convert a field.
        events: globs. Options: as for events().
        """
        fields = [name for name in names if not name.startswith("$")]
        reader = self._reader(events, fields=fields or ("",), **options)
        return self._batches(reader, names, kinds or {}, rows)

    @staticmethod
    def _batches(reader, names, kinds, rows):
        try:
            yield from _columns.batches(reader, names, kinds, rows)
        finally:
            reader.close()


def open(*paths):
    """Opens files and folders of any supported format; several are merged by timestamp.

    Parts of one recording, such as snapshots, become one trace: packets that several have are read once.
    """
    return Trace(paths)
