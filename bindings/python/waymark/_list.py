# SPDX-License-Identifier: MIT
"""Lists the events that can be traced: <waymark/list.h>."""
import os
from collections import namedtuple
from ctypes import (POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_uint32, c_uint64, c_void_p)

from ._library import ErrorStruct, Sized, check, declare, lib, strings, text

KERNEL, PROCESSES, PLACES = 1, 2, 4


class OptionsStruct(Sized):
    _fields_ = [("events", c_char_p), ("files", POINTER(c_char_p)), ("nr_files", c_uint32),
                ("pids", POINTER(c_int32)), ("nr_pids", c_uint32), ("flags", c_uint32)]


class ListedStruct(Sized):
    _fields_ = [("name", c_char_p), ("kind", c_char_p), ("help", c_char_p), ("unit", c_char_p),
                ("scale", c_double), ("level", c_char_p), ("file", c_char_p),
                ("source", c_char_p), ("command", c_char_p), ("line", c_uint32),
                ("nr_places", c_uint32), ("nr_processes", c_uint32), ("nr_on", c_uint32)]


class FieldStruct(Sized):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("kind", c_int), ("bytes", c_uint32),
                ("length", c_uint32), ("nr_labels", c_uint32), ("is_exit", c_int),
                ("reserved", c_uint32)]


class PlaceStruct(Sized):
    _fields_ = [("address", c_uint64), ("offset", c_uint64), ("function", c_char_p),
                ("source", c_char_p), ("line", c_uint32), ("operands", c_char_p),
                ("semaphore", c_uint64)]


declare({
    "list": (c_int, POINTER(OptionsStruct), POINTER(c_void_p), POINTER(ErrorStruct)),
    "list_close": (None, c_void_p),
    "listed": (c_int, c_void_p, c_uint32, POINTER(ListedStruct)),
    "listed_print": (c_char_p, c_void_p, c_uint32),
    "listed_field": (c_int, c_void_p, c_uint32, c_uint32, POINTER(FieldStruct)),
    "listed_label": (c_char_p, c_void_p, c_uint32, c_uint32, c_uint32, POINTER(c_int64)),
    "listed_place": (c_int, c_void_p, c_uint32, c_uint32, POINTER(PlaceStruct)),
})

Listed = namedtuple("Listed", "name kind help level file source line command nr_processes nr_on "
                              "unit scale print fields places")
ListedField = namedtuple("ListedField", "name type bytes length labels is_exit")
ListedPlace = namedtuple("ListedPlace", "address offset function source line operands semaphore")


def _optional(raw):
    return None if raw is None else text(raw)


def _labels(handle, i, k, nr):
    value = c_int64()
    return {text(lib.listed_label(handle, i, k, n, byref(value))): value.value for n in range(nr)}


def _fields(handle, i):
    found, f = [], FieldStruct()
    while lib.listed_field(handle, i, len(found), byref(f)) == 0:
        found.append(ListedField(text(f.name), text(f.type), f.bytes, f.length,
                                 _labels(handle, i, len(found), f.nr_labels), bool(f.is_exit)))
    return found


def _places(handle, i):
    found, p = [], PlaceStruct()
    while lib.listed_place(handle, i, len(found), byref(p)) == 0:
        found.append(ListedPlace(p.address, p.offset, _optional(p.function), _optional(p.source),
                                 p.line, _optional(p.operands), p.semaphore))
    return found


def _listed(handle, i, e, fields):
    return Listed(text(e.name), text(e.kind), _optional(e.help), _optional(e.level),
                  None if e.file is None else os.fsdecode(e.file), _optional(e.source), e.line,
                  _optional(e.command), e.nr_processes, e.nr_on, _optional(e.unit), e.scale,
                  _optional(lib.listed_print(handle, i)) if fields else None,
                  _fields(handle, i) if fields else [], _places(handle, i) if fields else [])


def numbers(ids):
    """A C array of numbers; keep it while C code uses it."""
    return (c_int32 * max(len(ids), 1))(*ids)


def list_events(events=None, files=(), pids=(), kernel=False, processes=False, fields=True):
    """A list of Listed tuples, one for each event.

    events: a name with *, ? and [...]; None: all. files: events of these programs and
    libraries. pids: events of these processes. With files or pids, events of the kernel
    and of other processes are listed only with kernel=True and processes=True.
    fields=False is faster and leaves out fields, places and print formats.
    """
    o = OptionsStruct()
    error, handle, one = ErrorStruct(), c_void_p(), ListedStruct()
    o.events = None if events is None else os.fsencode(events)
    o.files, o.nr_files = strings(files), len(files)
    o.pids, o.nr_pids = numbers(pids), len(pids)
    o.flags = ((KERNEL if kernel else 0) | (PROCESSES if processes else 0) |
               (PLACES if fields and (files or pids) else 0))
    check(lib.list(byref(o), byref(handle), byref(error)), error)
    try:
        found = []
        while lib.listed(handle, len(found), byref(one)) == 0:
            found.append(_listed(handle, len(found), one, fields))
        return found
    finally:
        lib.list_close(handle)
