# tools/lib/count_tests.py -- counts the test cases of one `bazel test` from its build event file
#
# usage: count_tests.py EVENTS STATUS
# STATUS is Bazel's exit status. Prints `PASSED FAILED` to standard output; names what failed and what was
# skipped, with the reason, on standard error.
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree

NO_TESTS = 4  # Bazel's exit status when the targets hold no test


def events(path):
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def cases(path):
    """Yields (name, failed, reason for skipping or None) of each case in a test.xml."""
    for suite in xml.etree.ElementTree.parse(path).iter("testsuite"):
        for case in suite.findall("testcase"):
            name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
            failed = case.find("failure") is not None or case.find("error") is not None
            skip = case.find("skipped")
            reason = None
            if case.get("result") == "skipped" or case.get("status") == "notrun" or skip is not None:
                text = skip.get("message") or "" if skip is not None else ""
                # GoogleTest's message is `FILE:LINE` followed by what the test said.
                reason = text.strip().split("\n")[-1] or "no reason given"
            yield name, failed, reason


def main(event_file, status):
    passed, failures, skipped = 0, [], []
    xml_of = {}  # (label, run, shard) -> test.xml and status of the last attempt
    for event in events(event_file):
        key = event.get("id", {})
        if "testResult" in event:
            result = key["testResult"]
            files = [f["uri"] for f in event["testResult"].get("testActionOutput", []) if f["name"] == "test.xml"]
            path = urllib.parse.unquote(urllib.parse.urlparse(files[0]).path) if files else None
            identity = (result["label"], result.get("run", 1), result.get("shard", 1))
            xml_of[identity] = path, event["testResult"].get("status")
        elif "testSummary" in event:
            if event["testSummary"].get("overallStatus") == "NO_STATUS":
                failures.append(key["testSummary"]["label"] + " (did not run)")
        elif "targetCompleted" in key and not event.get("completed", {}).get("success"):
            failures.append(key["targetCompleted"]["label"] + " (did not build)")

    for (label, _, _), (path, result) in xml_of.items():
        failed_here = 0
        try:
            found = list(cases(path))
        except (OSError, TypeError, xml.etree.ElementTree.ParseError):
            found = []
        for name, failed, reason in found:
            if failed:
                failed_here += 1
                failures.append(f"{label} {name}")
            elif reason:
                skipped.append(f"{label} {name}: {reason}")
            else:
                passed += 1
        # A crash, a leak found at exit or a time limit leaves no failed case behind.
        if result not in ("PASSED", "FLAKY") and not failed_here:
            failures.append(f"{label} ({result})")

    if status not in (0, NO_TESTS) and not failures:
        failures.append(f"bazel (exit status {status})")
    for line in sorted(set(failures)):
        print("failed:", line, file=sys.stderr)
    for line in sorted(skipped):
        print("skipped:", line, file=sys.stderr)
    print(passed, len(set(failures)))


main(sys.argv[1], int(sys.argv[2]))
