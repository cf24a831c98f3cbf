# SPDX-License-Identifier: MIT
"""Fields of many events as arrays."""
from ctypes import byref, c_int, c_void_p, string_at

from ._library import ErrorStruct, check, failed, lib, strings, text

AUTO, INT64, UINT64, DOUBLE, TEXT = range(5)
_kinds = {None: AUTO, "int": INT64, "uint": UINT64, "float": DOUBLE, "text": TEXT}
_formats = {INT64: "q", UINT64: "Q", DOUBLE: "d"}


class Column:
    """One field of the rows of a batch.

    data is a memoryview of int64, uint64 or double (kind: "int", "uint", "float"),
    which numpy.asarray() uses without a copy; it is None for text. valid is a
    memoryview with a byte for each row: 0 where the event has no such field; data
    is 0 there.
    """
    __slots__ = ("kind", "data", "valid", "_ends", "_text")

    def __init__(self, handle, i, rows):
        kind = lib.column_kind(handle, i)
        address = lib.column_data(handle, i)
        self.kind = {v: k for k, v in _kinds.items()}[kind]
        self.valid = memoryview(string_at(lib.column_valid(handle, i), rows))
        if kind == TEXT:
            self.data = None
            self._ends = memoryview(string_at(address, 8 * (rows + 1))).cast("Q")
            self._text = string_at(lib.column_text(handle, i), self._ends[rows])
        else:
            self.data = memoryview(string_at(address, 8 * rows)).cast(_formats[kind])

    def __len__(self):
        return len(self.valid)

    def __getitem__(self, row):
        """The value of a row; None if the event has no such field."""
        if not self.valid[row]:
            return None
        if self.data is not None:
            return self.data[row]
        row = range(len(self))[row]
        return text(self._text[self._ends[row]:self._ends[row + 1]])

    def __iter__(self):
        return (self[row] for row in range(len(self)))

    def numpy(self):
        """The numbers as a numpy array; for text, an array of str."""
        import numpy
        if self.data is None:
            return numpy.array([value or "" for value in self])
        return numpy.frombuffer(self.data, dtype=self.data.format)


class Batch(dict):
    """Columns by name; each has batch.rows rows."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows


def batches(reader, names, kinds, rows):
    """Generator of the batches of an open reader."""
    error, handle = ErrorStruct(), c_void_p()
    numbers = (c_int * len(names))(*[_kinds[kinds.get(name)] for name in names])
    check(lib.columns(reader.handle, strings(names), numbers, len(names), rows, byref(handle),
                      byref(error)), error)
    try:
        while True:
            reader.check_open()
            got = lib.columns_fill(handle)
            if got < 0:
                failed(got)
            if not got:
                return
            batch = Batch(got)
            for i, name in enumerate(names):
                batch[name] = Column(handle, i, got)
            yield batch
    finally:
        lib.columns_close(handle)
