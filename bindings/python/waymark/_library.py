# SPDX-License-Identifier: MIT
"""libwaymark through ctypes: the functions and structures of its headers.

WAYMARK_LIBRARY is the path of the library when it is not installed.
"""
import ctypes
import os
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t,
                    c_uint32, c_uint64, c_void_p, sizeof)

NO_TIME = -(1 << 63)
UNKNOWN = (1 << 64) - 1
NO_NUMBER = (1 << 32) - 1
NR_PARTS = 6
FIELDS = 5
READ_META = 1
READ_UNORDERED = 2
READ_CORRELATE = 4


class Error(Exception):
    """A failure as a sentence; errno is its number."""

    def __init__(self, errno, text):
        super().__init__(text)
        self.errno = errno


class Sized(Structure):
    """A structure that begins with its size, like all that the library and its callers fill."""

    _fields_ = [("size", c_size_t)]

    def __init__(self, **members):
        super().__init__(size=sizeof(self), **members)


class ErrorStruct(Sized):
    _fields_ = [("code", c_int), ("column", c_uint32), ("text", c_char * 512)]


class InfoStruct(Sized):
    _fields_ = [("path", c_char_p), ("format", c_char_p), ("version", c_char_p),
                ("begin_ns", c_int64), ("end_ns", c_int64), ("nr_packets", c_uint64),
                ("is_epoch", c_int), ("is_incomplete", c_int)]


class StreamStruct(Sized):
    _fields_ = [("file", c_char_p), ("class_id", c_uint64), ("instance", c_uint64),
                ("trace", c_uint32), ("cpu", c_int32)]


class LossStruct(Sized):
    _fields_ = [("count", c_uint64), ("begin_ns", c_int64), ("end_ns", c_int64),
                ("cause", c_char_p), ("stream", c_uint32), ("is_packets", c_int)]


class FaultStruct(Sized):
    _fields_ = [("file", c_char_p), ("reason", c_char_p), ("offset", c_uint64)]


class OptionsStruct(Sized):
    _fields_ = [("events", POINTER(c_char_p)), ("nr_events", c_uint32),
                ("filter", c_char_p), ("fields", POINTER(c_char_p)), ("nr_fields", c_uint32),
                ("begin_ns", c_int64), ("end_ns", c_int64), ("has_begin", c_int),
                ("has_end", c_int), ("stream_plus_1", c_uint32), ("share", c_uint32),
                ("nr_shares", c_uint32), ("flags", c_uint32)]


# Name: the type of the result, then those of the arguments. Handles are addresses.
_functions = {
    "open_all": (c_int, POINTER(c_char_p), c_uint32, POINTER(c_void_p), POINTER(ErrorStruct)),
    "close": (None, c_void_p),
    "nr_traces": (c_uint32, c_void_p),
    "nr_streams": (c_uint32, c_void_p),
    "nr_types": (c_uint32, c_void_p),
    "nr_losses": (c_uint32, c_void_p),
    "nr_faults": (c_uint32, c_void_p),
    "nr_warnings": (c_uint32, c_void_p),
    "info": (c_int, c_void_p, c_uint32, POINTER(InfoStruct)),
    "stream": (c_int, c_void_p, c_uint32, POINTER(StreamStruct)),
    "loss": (c_int, c_void_p, c_uint32, POINTER(LossStruct)),
    "fault": (c_int, c_void_p, c_uint32, POINTER(FaultStruct)),
    "warning": (c_int, c_void_p, c_uint32, POINTER(FaultStruct)),
    "word": (c_char_p, c_void_p, c_uint32, c_char_p),
    "type": (c_void_p, c_void_p, c_uint32),
    "type_name": (c_char_p, c_void_p),
    "type_level": (c_int, c_void_p),
    "type_is_meta": (c_int, c_void_p),
    "type_nr_fields": (c_uint32, c_void_p, c_int),
    "type_field": (c_void_p, c_void_p, c_int, c_uint32),
    "type_role": (c_int, c_void_p, c_int, c_uint32),
    "field_name": (c_char_p, c_void_p),
    "field_kind": (c_int, c_void_p),
    "field_bits": (c_uint32, c_void_p),
    "field_base": (c_uint32, c_void_p),
    "field_nr_inside": (c_uint32, c_void_p),
    "field_inside": (c_void_p, c_void_p, c_uint32),
    "field_is_enum": (c_int, c_void_p),
    "value_label": (c_char_p, c_void_p),
    "read": (c_int, c_void_p, POINTER(OptionsStruct), POINTER(c_void_p), POINTER(ErrorStruct)),
    "reader_close": (None, c_void_p),
    "next": (c_int, c_void_p, POINTER(c_void_p)),
    "comm": (c_void_p, c_void_p, c_void_p, POINTER(c_uint32)),
    "columns": (c_int, c_void_p, POINTER(c_char_p), POINTER(c_int), c_uint32, c_uint64,
                POINTER(c_void_p), POINTER(ErrorStruct)),
    "columns_close": (None, c_void_p),
    "columns_fill": (c_int64, c_void_p),
    "column_kind": (c_int, c_void_p, c_uint32),
    "column_data": (c_void_p, c_void_p, c_uint32),
    "column_valid": (c_void_p, c_void_p, c_uint32),
    "column_text": (c_void_p, c_void_p, c_uint32),
    "version": (c_char_p,),
}


class Closing:
    """An object that is closed by close(), at the end of a with block, or when it is deleted."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        self.close()


class _Library:
    """lib.next is waymark_next, and so on."""

    def __init__(self):
        self.shared = ctypes.CDLL(os.environ.get("WAYMARK_LIBRARY") or "libwaymark.so.1")

    def declare(self, functions):
        for name, (result, *arguments) in functions.items():
            function = getattr(self.shared, "waymark_" + name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)


lib = _Library()
declare = lib.declare
declare(_functions)


def version():
    """The version of the library: "0.1.0"."""
    return lib.version().decode()


def text(raw):
    """Bytes of a trace as str; bytes that are not UTF-8 become U+FFFD."""
    return (raw or b"").decode("utf-8", "replace")


def strings(names):
    """A C array of strings, with NULL for None; keep it while C code uses it."""
    return (c_char_p * max(len(names), 1))(*[None if name is None else os.fsencode(name)
                                             for name in names])


def check(status, error):
    """Raises the error of a function that failed."""
    if status:
        raise Error(-status, text(error.text) or os.strerror(-status))


def failed(status):
    """Raises an error of a function that returns no sentence."""
    raise Error(-status, "cannot read the trace: " + os.strerror(-status))


def get(function, structure, handle, i):
    """A structure filled by a function of a trace; IndexError when there is no such index."""
    one = structure()
    if function(handle, i, byref(one)):
        raise IndexError(i)
    return one
