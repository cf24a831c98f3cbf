# SPDX-License-Identifier: MIT
"""Events: copied from the library's memory at once, so that they remain valid."""
import struct
from ctypes import byref, c_uint32, string_at

from ._library import FIELDS, NO_TIME, lib, text

# struct waymark_event: time, clock, type, values, begin and end of six parts, cpu, pid, tid,
# stream, own.
EVENT = struct.Struct("=qQQQ12I3iIQ")
# struct waymark_value: field, the value's 8 bytes, count, next.
VALUE = struct.Struct("=QQII")

(UNSIGNED, SIGNED, BOOL, FLOAT, TEXT, BYTES, STRUCT, LIST, CHOICE, OPTIONAL) = range(10)
IS_DATA, IS_LENGTH, IS_CONTEXT = range(3)


class Label(int):
    """A value of an enumeration: a number with its name in label, or None without one."""

    def __new__(cls, value, label):
        self = super().__new__(cls, value)
        self.label = label
        return self

    def __repr__(self):
        return f"Label({int(self)}, {self.label!r})"


class _Values:
    """The values of one event, valid until the library reads the next event."""

    def __init__(self, types, address, begin, end):
        self.types = types
        self.address = address + begin * VALUE.size
        self.list = list(VALUE.iter_unpack(string_at(self.address, (end - begin) * VALUE.size)))
        self.begin = begin

    def at(self, i):
        """The value at index i."""
        field, raw, count, _ = self.list[i]
        kind = self.types.field(field).kind
        if kind == UNSIGNED or kind == SIGNED:
            return self.number(i, field, raw, kind)
        if kind == BOOL:
            return bool(raw)
        if kind == FLOAT:
            return struct.unpack("=d", struct.pack("=Q", raw))[0]
        if kind == TEXT:
            return text(string_at(raw, count)) if count else ""
        if kind == BYTES:
            return string_at(raw, count) if count else b""
        return self.several(i, kind, count)

    def number(self, i, field, raw, kind):
        value = raw - (1 << 64) if kind == SIGNED and raw >> 63 else raw
        if not self.types.field(field).is_enum:
            return value
        label = lib.value_label(self.address + i * VALUE.size)
        return Label(value, None if label is None else text(label))

    def several(self, i, kind, count):
        """A value with parts, which follow it."""
        inside, at = [], i + 1
        for _ in range(1 if kind == CHOICE else count):
            inside.append(at)
            at = self.list[at][3] - self.begin
        if kind == LIST:
            return [self.at(k) for k in inside]
        if kind == OPTIONAL:
            return self.at(inside[0]) if inside else None
        return {self.types.field(self.list[k][0]).name: self.at(k) for k in inside}


class Event:
    """One event: its name, time, thread, CPU and fields.

    event["x"] and event.x are the field x, of the event's own fields or else of its
    contexts; event.fields and event.contexts hold all of them. An unknown cpu,
    thread or time is None.
    """
    __slots__ = ("time_ns", "clock", "type", "cpu", "pid", "tid", "comm", "stream", "fields",
                 "contexts")

    @property
    def name(self):
        """PROVIDER:NAME"""
        return self.type.name

    def __getitem__(self, field):
        if field in self.fields:
            return self.fields[field]
        return self.contexts[field]

    def __getattr__(self, field):
        if field in Event.__slots__:  # not filled yet
            raise AttributeError(field)
        try:
            return self[field]
        except KeyError:
            raise AttributeError(f"{self.name} has no field {field!r}") from None

    def __contains__(self, field):
        return field in self.fields or field in self.contexts

    def get(self, field, default=None):
        return self[field] if field in self else default

    def __repr__(self):
        return f"<{self.name} {self.time_ns} {self.fields}>"


def known(number):
    return None if number < 0 else number


class Plan:
    """How to read the members of one part of a type; in one loop when none has parts itself."""

    def __init__(self, members):
        self.is_flat = all(field.kind < STRUCT and role != IS_CONTEXT for field, role in members)
        self.members = [(i, field.name, field.kind if role != IS_LENGTH else -1, field.is_enum)
                        for i, (field, role) in enumerate(members)]

    def flat(self, address, nr):
        """The nr values at this address, as a dict."""
        values = {}
        items = VALUE.iter_unpack(string_at(address, nr * VALUE.size))
        for (i, name, kind, is_enum), (_, raw, count, _) in zip(self.members, items):
            if is_enum:
                label = lib.value_label(address + i * VALUE.size)
                raw = raw - (1 << 64) if kind == SIGNED and raw >> 63 else raw
                values[name] = Label(raw, None if label is None else text(label))
            elif kind == UNSIGNED:
                values[name] = raw
            elif kind == TEXT:
                values[name] = text(string_at(raw, count)) if count else ""
            elif kind == SIGNED:
                values[name] = raw - (1 << 64) if raw >> 63 else raw
            elif kind == FLOAT:
                values[name] = struct.unpack("=d", struct.pack("=Q", raw))[0]
            elif kind == BOOL:
                values[name] = bool(raw)
            elif kind == BYTES:
                values[name] = string_at(raw, count) if count else b""
        return values


class Source:
    """Reads the events of one reader."""

    def __init__(self, reader, types, comm=lib.comm, is_live=False):
        self.reader, self.types, self.comm = reader, types, comm
        self.is_live = is_live  # a new packet can reuse the address of an old one
        self.length = c_uint32()
        self.packet, self.packet_values = None, {}

    def read(self, address):
        """The event at this address of the library's memory."""
        (time, clock, kind, values, _, _, at1, end1, _, _, at3, end3, at4, end4, at5, end5,
         cpu, pid, tid, stream, packet) = EVENT.unpack(string_at(address, EVENT.size))
        event = Event()
        event.type = kind = self.types.by_address[kind]
        event.time_ns = None if time == NO_TIME else time
        event.clock, event.stream = clock, stream
        event.cpu = None if cpu < 0 else cpu
        event.pid = None if pid < 0 else pid
        event.tid = None if tid < 0 else tid
        comm = self.comm(self.reader, address, byref(self.length))
        event.comm = text(string_at(comm, self.length.value)) if self.length.value else ""
        event.fields, event.contexts = {}, {}
        if at1 != end1:
            if packet != self.packet or self.is_live:  # all events of a packet share its context
                self.packet, self.packet_values = packet, {}
                self.part(event, values, at1, end1, 1)
                self.packet_values = event.contexts
            event.contexts = dict(self.packet_values)
        if at3 != end3:
            self.part(event, values, at3, end3, 3)
        if at4 != end4:
            self.part(event, values, at4, end4, 4)
        if at5 != end5:
            self.part(event, values, at5, end5, FIELDS)
        return event

    def part(self, event, values, begin, end, part):
        """Adds the members of a part to the event, except the lengths of lists."""
        plan = event.type.plans[part]
        if plan.is_flat:
            to = event.fields if part == FIELDS else event.contexts
            to.update(plan.flat(values + begin * VALUE.size, end - begin))
            return
        nested = _Values(self.types, values, begin, end)
        at = 0
        for field, role in event.type.members[part]:
            if at >= len(nested.list):
                return
            if role != IS_LENGTH:
                to = event.fields if part == FIELDS and role == IS_DATA else event.contexts
                to[field.name] = nested.at(at)
            at = nested.list[at][3] - begin
