#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# clock_ctf.py OUT CLOCK... - writes to the folder OUT a CTF trace with one stream for each CLOCK, the
# text of a clock block of CTF 1.8, or of the members of a CTF 2 clock class when it begins with '"'.
import os
import struct
import sys

out, clocks = sys.argv[1], sys.argv[2:]
os.makedirs(out, exist_ok=True)
NUMBER = '{"type":"fixed-length-unsigned-integer","length":%d,"byte-order":"little-endian","alignment":8,"roles":["%s"]}'


def member(name, bits, role):
    return '{"name":"%s","field-class":%s}' % (name, NUMBER % (bits, role))


def structure(*members):
    return '{"type":"structure","member-classes":[%s]}' % ",".join(members)


def ctf1():
    text = "/* CTF 1.8 */ typealias integer { size = 64; align = 8; } := u64;"
    text += "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u64 stream_id; }; };"
    for i, clock in enumerate(clocks):
        text += "clock { name = c%d; %s };" % (i, clock)
        text += "typealias integer { size = 64; align = 8; map = clock.c%d.value; } := t%d;" % (i, i)
        text += "stream { id = %d; event.header := struct { t%d timestamp; }; };" % (i, i)
        text += 'event { name = "e%d"; stream_id = %d; fields := struct { u64 x; }; };' % (i, i)
    return text


def ctf2():
    text = '\x1e{"type":"preamble","version":2}\x1e{"type":"trace-class","packet-header-field-class":'
    text += structure(member("stream", 64, "data-stream-class-id")) + "}"
    for i, clock in enumerate(clocks):
        text += '\x1e{"type":"clock-class","id":"c%d","frequency":1000000000,%s}' % (i, clock)
        text += '\x1e{"type":"data-stream-class","id":%d,"default-clock-class-id":"c%d",' % (i, i)
        text += '"event-record-header-field-class":%s}' % structure(member("t", 64, "default-clock-timestamp"))
        text += '\x1e{"type":"event-record-class","name":"e%d","data-stream-class-id":%d,' % (i, i)
        text += '"payload-field-class":%s}' % structure(member("x", 64, "none"))
    return text


with open(out + "/metadata", "w") as f:
    f.write(ctf2() if clocks[0][0] == '"' else ctf1())
for i in range(len(clocks)):
    with open("%s/s%d" % (out, i), "wb") as f:
        f.write(struct.pack("<5Q", i, 10 + i, 7, 20 + i, 8))
