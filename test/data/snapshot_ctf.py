#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# snapshot_ctf.py OUT FIRST LAST [DISCARDED] - writes to the folder OUT a snapshot of a recording in CTF 1.8: the
# packets FIRST to LAST of one stream. Packet N has two events, at N * 10 + 1 and N * 10 + 2 seconds. From packet 3 on,
# DISCARDED events are lost before each packet.
import os
import struct
import sys
import uuid

out, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
discarded = int(sys.argv[4]) if len(sys.argv) > 4 else 0
UUID = "01020304-0506-0708-090a-0b0c0d0e0f10"
NS = 1000000000
METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; uuid = "%s";
  packet.header := struct { integer { size = 32; align = 8; } magic; u8 uuid[16]; u64 stream_instance_id; }; };
clock { name = c; freq = 1000000000; absolute = true; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
stream {
  packet.context := struct { time timestamp_begin; time timestamp_end; u64 packet_size; u64 content_size;
    u64 packet_seq_num; u64 events_discarded; };
  event.header := struct { time timestamp; }; };
event { name = "e"; fields := struct { u64 x; }; };
""" % UUID

os.makedirs(out, exist_ok=True)
with open(out + "/metadata", "w") as f:
    f.write(METADATA)
with open(out + "/stream", "wb") as f:
    for n in range(first, last + 1):
        events = b"".join(struct.pack("<2Q", (n * 10 + k) * NS, n * 10 + k) for k in (1, 2))
        bits = (28 + 48 + len(events)) * 8
        f.write(struct.pack("<I16sQ", 0xC1FC1FC1, uuid.UUID(UUID).bytes, 7))
        f.write(struct.pack("<6Q", n * 10 * NS, (n * 10 + 9) * NS, bits, bits, n, max(0, n - 2) * discarded))
        f.write(events)
