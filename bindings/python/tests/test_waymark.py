# SPDX-License-Identifier: MIT
"""Compares the package with `waymark print --format=jsonl` of the same traces.

test/python.bats runs this file and sets WAYMARK (the command), WAYMARK_LIBRARY, OWN (a
trace of waymark), OTHER (one more), DAMAGED (a truncated one) and, if a corpus is available, CORPUS.
"""
import array
import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import waymark

OWN = os.environ["OWN"]
OTHER = os.environ["OTHER"]
CORPUS = os.environ.get("CORPUS", "")
CLOCK_CTF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "test",
                         "data", "clock_ctf.py")
TRACES = ["ctf1/tracecompass/context-switches/context-switches-ust",
          "ctf1/babeltrace/succeed/meta-variant-two-underscores",
          "ctf1/barectf/basic/dynamic-array/of-static-array-of-str",
          "perf.data/linux-perf-data/sleep.data", "trace.dat/trappy/trace_idle.dat"]


def printed(*args):
    """The events that print writes, as dicts."""
    run = subprocess.run([os.environ["WAYMARK"], "print", "--format=jsonl", *args],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in run.stdout.splitlines()]


def shown(value):
    """A value as in the JSON of print."""
    if isinstance(value, waymark.Label):
        return {"value": int(value), "label": value.label}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {k: shown(v) for k, v in value.items()}
    if isinstance(value, list):
        return [shown(v) for v in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value


def without_lengths(fields, mine):
    """The fields without the lengths of lists and bytes, which Python objects contain."""
    names = list(fields)
    return {name: fields[name] for i, name in enumerate(names)
            if name in mine or not (name[:1] == "_" and name[-7:] == "_length" and
                                    names[i + 1:i + 2] == [name[1:-7]] and
                                    isinstance(mine[name[1:-7]], (list, bytes)))}


class Comparing(unittest.TestCase):
    def compare(self, path, **options):
        wanted = printed(path)
        with waymark.open(path) as trace:
            for event, other in zip(trace.events(**options), wanted):
                self.assertEqual(event.time_ns, other["time_ns"])
                self.assertEqual(event.name, other["name"])
                self.assertEqual(event.comm, other.get("comm", ""))
                for key in ("cpu", "pid", "tid"):
                    self.assertEqual(getattr(event, key), other.get(key))
                self.assertEqual(shown(event.fields),
                                 without_lengths(other.get("fields", {}), event.fields))
            self.assertEqual(sum(1 for _ in trace), len(wanted))
        self.assertTrue(wanted)

    def test_own(self):
        self.compare(OWN)

    @unittest.skipUnless(CORPUS, "no corpus: WAYMARK_CORPUS is not set")
    def test_others(self):
        for name in TRACES:
            with self.subTest(name):
                self.compare(os.path.join(CORPUS, name))


class Events(unittest.TestCase):
    def setUp(self):
        self.trace = waymark.open(OWN)
        self.addCleanup(self.trace.close)

    def test_access(self):
        event = next(iter(self.trace.events("app:all")))
        self.assertEqual(event["i8"], -2**63)
        self.assertEqual(event.u8, 2**64 - 1)
        self.assertEqual(event.e, -1)
        self.assertEqual(event.e.label, "bad")
        self.assertEqual(event.blob, b"\xfe\xca")
        self.assertEqual(event["ustack"], [0x401000, 2**64 - 1])
        self.assertIn("ustack", event.contexts)
        self.assertNotIn("ustack", event.fields)
        self.assertEqual(event.get("nothing", 5), 5)
        self.assertNotIn("nothing", event)
        with self.assertRaises(AttributeError):
            _ = event.nothing
        with self.assertRaises(KeyError):
            _ = event["nothing"]

    def test_events_stay(self):
        events = list(self.trace)
        self.trace.close()
        self.assertEqual([e.n for e in events if e.name == "app:plain"][:12],
                         [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 101])

    def test_chosen(self):
        self.assertEqual({e.name for e in self.trace.events("app:p*", "app:q*")},
                         {"app:plain", "app:query"})
        self.assertEqual([e.n for e in self.trace.events(filter="n < 3")], [0, 1, 2])
        times = [e.time_ns for e in self.trace]
        self.assertEqual(times, sorted(times))
        some = [e.time_ns for e in self.trace.events(begin=times[10], end=times[50])]
        self.assertEqual(some, [t for t in times if times[10] <= t < times[50]])
        self.assertEqual(sorted(e.time_ns for e in self.trace.events(ordered=False)), times)
        self.assertTrue(any(e.name == "waymark:process" for e in self.trace.events(meta=True)))
        streams = sum(sum(1 for _ in self.trace.events(stream=i))
                      for i in range(len(self.trace.streams)))
        self.assertEqual(streams, len(times))

    def test_threads(self):
        counts = [0] * 3

        def work(i):
            counts[i] = sum(1 for _ in self.trace.events(ordered=False, share=(i, 3)))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(counts), sum(1 for _ in self.trace))

    def test_several(self):
        own = sum(1 for _ in self.trace)
        with waymark.open(OWN, OTHER) as both:
            self.assertEqual(sum(1 for _ in both), 2 * own)
            self.assertEqual(len(both.infos), 2)
        with waymark.open(OWN, OWN) as one:
            self.assertEqual(sum(1 for _ in one), own)
            self.assertEqual(len(one.infos), 1)


class Columns(unittest.TestCase):
    def setUp(self):
        self.trace = waymark.open(OWN)
        self.addCleanup(self.trace.close)

    def test_values(self):
        names = ("$time", "$tid", "$comm", "n", "s", "d", "e")
        rows = []
        for batch in self.trace.columns(*names, rows=17, kinds={"e": "text"}):
            self.assertLessEqual(batch.rows, 17)
            rows += zip(*(batch[name] for name in names))
        wanted = [(e.time_ns, e.tid, e.comm, e.get("n"), e.get("s"), e.get("d"),
                   e.e.label if "e" in e else None) for e in self.trace]
        self.assertEqual(rows, wanted)

    def test_buffers(self):
        batch = next(self.trace.columns("n", "d", "s", "u8", events=["app:*"]))
        self.assertEqual(batch["n"].data.format, "Q")
        self.assertEqual(batch["u8"].data.format, "Q")
        self.assertEqual(batch["d"].data.format, "d")
        self.assertEqual(batch["n"].data.nbytes, 8 * batch.rows)
        self.assertEqual(len(batch["n"].valid), batch.rows)
        self.assertIsNone(batch["s"].data)
        numbers = array.array("Q", batch["n"].data)
        self.trace.close()  # returned data remains valid
        self.assertEqual(sum(numbers), sum(batch["n"].data))

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        batch = next(self.trace.columns("n", "s"))
        self.assertEqual(batch["n"].numpy().dtype, numpy.uint64)
        self.assertEqual(numpy.asarray(batch["n"].data).sum(), sum(batch["n"].data))
        self.assertEqual(len(batch["s"].numpy()), batch.rows)


class Errors(unittest.TestCase):
    def test_sentences(self):
        with self.assertRaisesRegex(waymark.Error, "'/nowhere'") as caught:
            waymark.open("/nowhere")
        self.assertEqual(caught.exception.errno, 2)
        with waymark.open(OWN) as trace:
            with self.assertRaisesRegex(waymark.Error, "no event matches 'nobody:x'"):
                trace.events("nobody:x")
            with self.assertRaisesRegex(waymark.Error, "column 5"):
                trace.events(filter="n > > 1")
            with self.assertRaisesRegex(waymark.Error, "'nothing'"):
                next(trace.columns("nothing"))
            events = trace.events()
            next(events)
        with self.assertRaisesRegex(waymark.Error, "closed"):
            next(events)
        with self.assertRaisesRegex(waymark.Error, "closed"):
            trace.events()

    def test_faults(self):
        with waymark.open(os.environ["DAMAGED"]) as trace:
            self.assertEqual(len(trace.faults), 1)
            self.assertEqual(trace.faults[0].file, "user-1-0")
            self.assertIn("truncated", trace.faults[0].reason)
            self.assertTrue(sum(1 for _ in trace))

    def test_unrelated_clocks(self):
        clock = 'freq = 1000; uuid = "11111111-2222-3333-4444-55555555555%d";'
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, CLOCK_CTF, folder, clock % 1, clock % 2], check=True)
            with waymark.open(folder) as trace:
                with self.assertRaisesRegex(waymark.Error, "'c0'.*'c1'.*unrelated origins") as no:
                    trace.events()
                self.assertEqual(no.exception.errno, errno.EDOM)
                with self.assertRaisesRegex(waymark.Error, "unrelated origins"):
                    next(trace.columns("$time"))
                number = sum(1 for _ in trace.events(ordered=False))
                self.assertGreater(number, 1)
                self.assertEqual(sum(1 for _ in trace.events(correlate=True)), number)
                self.assertLess(sum(1 for _ in trace.events(stream=0)), number)
                times = [t for b in trace.columns("$time", correlate=True) for t in b["$time"].data]
                self.assertEqual(times, sorted(times))
                self.assertEqual(len(times), number)

    def test_warnings(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, CLOCK_CTF, folder, "freq = 1000; colour = 3;"],
                           check=True)
            with waymark.open(folder) as trace:
                self.assertEqual(trace.faults, [])
                self.assertEqual([w.file for w in trace.warnings], ["metadata"])
                self.assertIn("colour", trace.warnings[0].reason)
                self.assertGreater(trace.warnings[0].offset, 0)
        with waymark.open(OWN) as trace:
            self.assertEqual(trace.warnings, [])

    def test_what_there_is(self):
        with waymark.open(OWN) as trace:
            self.assertEqual(trace.info.format, "ctf")
            self.assertEqual(trace.word("tracer_name"), "waymark")
            self.assertIsNone(trace.word("nothing"))
            self.assertEqual([loss.count for loss in trace.losses], [7])
            kinds = {f.name: f.kind_name for t in trace.types if t.name == "app:all"
                     for f in t.fields}
            self.assertEqual(kinds["seq"], "list")
            self.assertEqual(kinds["yes"], "bool")
            self.assertNotIn("_seq_length", kinds)
        self.assertEqual(waymark.__version__, waymark.version())


HELLO = os.environ["HELLO"]


class Listing(unittest.TestCase):
    def test_events_are_the_commands(self):
        run = subprocess.run([os.environ["WAYMARK"], "list", "--json", "--fields", "sw:*"],
                             stdout=subprocess.PIPE, check=True)
        wanted = [e["name"] for g in json.loads(run.stdout)["groups"] for e in g["events"]]
        self.assertEqual([e.name for e in waymark.list_events("sw:*", kernel=True)], wanted)

    def test_a_program(self):
        event, = waymark.list_events("hello:*", files=[HELLO])
        self.assertEqual((event.name, event.kind, event.file), ("hello:greeting", "event", HELLO))
        self.assertEqual([f.name for f in event.fields], ["who", "times", "mood"])
        self.assertIn("calm", event.fields[2].labels)
        self.assertEqual(len(event.places), 1)

    def test_a_miss(self):
        with self.assertRaisesRegex(waymark.Error, "did you mean 'sw:cpu-clock'") as caught:
            waymark.list_events("sw:cpu-clok")
        self.assertEqual(caught.exception.errno, errno.ENOENT)


class Recording(unittest.TestCase):
    def test_while_it_happens(self):
        with waymark.record([HELLO], events=["hello:*"]) as recording:
            events = list(recording)
            self.assertIsNone(recording.next())
            totals = recording.totals
        self.assertEqual([e.times for e in events], [1, 2, 3])
        self.assertEqual({(e.name, e.comm, e.who) for e in events},
                         {("hello:greeting", os.path.basename(HELLO), "world")})
        self.assertEqual(events[2].mood.label, "glad")
        self.assertEqual((totals.events, totals.lost, totals.losses, totals.status), (3, 0, {}, 0))

    def test_to_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with waymark.record([HELLO], folder=folder + "/own") as recording:
                recording.event("hello:*", filter="times > 1", cpu=True)
                recording.start()
                self.assertTrue(recording.wait())
                self.assertEqual(recording.totals.events, 2)
            with waymark.open(folder + "/own") as trace:
                self.assertEqual([e.times for e in trace], [2, 3])

    @unittest.skipUnless(os.access("/sys/kernel/tracing/instances", os.W_OK), "no tracefs for us")
    def test_the_kernel_later(self):
        ticks = "import time\nfor _ in range(100): time.sleep(0.01)"
        with waymark.record([sys.executable, "-c", ticks], events=["no:such"]) as recording:
            recording.event("syscall:clock_nanosleep:enter")
            names = [e.name for e in recording]
        self.assertEqual(set(names), {"syscalls:sys_enter_clock_nanosleep"})
        self.assertGreater(len(names), 10)

    def test_marks(self):
        with waymark.record(["sleep", "60"], preload="none") as recording:
            try:
                recording.event("ftrace:print")
            except waymark.Error as why:
                self.skipTest(str(why))
            recording.clock("monotonic")
            recording.start()
            recording.mark("first of two")
            recording.mark("second of two")
            found = []
            while len(found) < 2:
                event = recording.next(60)
                self.assertIsNotNone(event)
                if event.buf.rstrip().endswith("of two"):
                    found.append(event)
            with self.assertRaisesRegex(waymark.Error, "empty"):
                recording.mark("")
            os.kill(recording.totals.command, signal.SIGTERM)
        self.assertEqual([e.buf.rstrip() for e in found], ["first of two", "second of two"])
        self.assertLess(found[0].time_ns, found[1].time_ns)

    def test_what_is_wrong(self):
        with self.assertRaises(waymark.Error) as caught:
            waymark.record()
        self.assertEqual(caught.exception.errno, errno.EINVAL)
        with waymark.record(["/nowhere"]) as recording:
            with self.assertRaisesRegex(waymark.Error, "expected a value"):
                recording.event("a:*", filter="n > > 3")
            with self.assertRaisesRegex(waymark.Error, "cannot run '/nowhere'"):
                recording.start()


class Counting(unittest.TestCase):
    def test_a_command(self):
        with waymark.count("sw:page-faults", command=[HELLO]) as counters:
            self.assertEqual(counters.wait(), 0)
            faults = counters.read()["sw:page-faults"]
        if faults.error:
            self.skipTest(faults.error)
        self.assertGreater(faults.value, 10)
        self.assertEqual(faults.value, faults.counted)

    def test_threads_and_filters(self):
        with waymark.count("sw:task-clock", "sw:page-faults", alone=True) as counters:
            here = counters.read_threads()[threading.get_native_id()]
            self.assertEqual(set(here), {"sw:task-clock", "sw:page-faults"})
        with waymark.count("sw:task-clock", tids=[threading.get_native_id()]) as counters:
            self.assertEqual(list(counters.read_threads()), [threading.get_native_id()])
        with self.assertRaisesRegex(waymark.Error, "cannot be filtered"):
            waymark.count("sw:task-clock", filters={"sw:task-clock": "a == 1"})
        with waymark.count("hello:*", "user:hello:other", command=[HELLO],
                           filters={"hello:*": "times != 2"}) as counters:
            self.assertEqual(counters.wait(), 0)
            found = counters.read()
            self.assertEqual(found["hello:greeting"].value, 2)
            self.assertEqual(found["hello:other"].value, 0)
        with self.assertRaisesRegex(waymark.Error, "no waymark runtime"):
            waymark.count("user:a:b")
        with self.assertRaisesRegex(ValueError, "not counted: b:c"):
            waymark.count("sw:task-clock", filters={"b:c": "a == 1"})


if __name__ == "__main__":
    unittest.main()
