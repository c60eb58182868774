"""The Inspector's command line, `mcpdo`: a daemon that holds the connection, and one process for each request.

`python inspector.py TASK`, with the standard library alone; `TASK["client"]` is how `mcpdo` is started. Prints the
report that `test_real_clients` describes, but for a cancelled call: the Inspector only stops waiting for one.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

TASK = json.loads(sys.argv[1])
FOLDER = Path(TASK["folder"])


def main(scratch: str) -> None:
    environment = os.environ | {
        "HOME": scratch,
        "MCP_INSPECTOR_SECRET_STORE": "file",
        "MCP_INSPECTOR_DAEMON_DIR": scratch,  # a daemon of our own
        "MCP_INSPECTOR_DAEMON_TOKEN": secrets.token_urlsafe(32),
    }
    command = [*TASK["client"], "--format", "json", "--connection", "driver"]

    def run(*arguments):
        done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{arguments[0]}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def call(name, **arguments):
        return run("tools/call", name, json.dumps(arguments))

    def saved():
        """Subscribes, saves the note as an editor does, and gives the URI that is told."""
        listening = subprocess.Popen(
            [*command, "resources/subscribe", TASK["watch"]], env=environment, stdout=subprocess.PIPE, text=True
        )
        with listening:
            events = objects(listening.stdout)
            assert next(events)["type"] == "subscribed"
            path = FOLDER / TASK["watched"]
            beside = path.with_name(".saving.tmp")
            beside.write_text("saved by an editor\n", encoding="utf-8")
            os.replace(beside, path)
            told = next(events)
            listening.terminate()
        assert told["type"] == "resources/updated"
        return told["uri"]

    server, *arguments = TASK["command"]
    run("connect", "--era", TASK["mode"], server, "--", *arguments)
    try:
        report = {"server": run("connections/show")["serverInfo"]["name"]}
        while not call("notes_info")["structuredContent"]["index"]["complete"]:
            pass
        report["tools"] = [tool["name"] for tool in run("tools/list")["tools"]]
        report["resources"] = [each["uri"] for each in run("resources/list")["resources"]]
        templates = run("resources/templates/list")["resourceTemplates"]
        report["templates"] = [template["uriTemplate"] for template in templates]
        report["prompts"] = [prompt["name"] for prompt in run("prompts/list")["prompts"]]
        report["resource"] = run("resources/read", TASK["read"])["contents"][0]["text"]
        prompt = run("prompts/get", "summarize_note", "--prompt-args", f"path={TASK['note']}")
        contents = [message["content"] for message in prompt["messages"]]
        report["embedded"] = [content["resource"]["text"] for content in contents if content["type"] == "resource"]
        report["note"] = call("read_note", path=TASK["note"])["content"][-1]["text"]
        found = call("search_notes", query=TASK["query"])["structuredContent"]
        report["found"] = [hit["path"] for hit in found["hits"]]
        created = call("create_note", title=TASK["title"], content="by a real client")
        report["created"] = created["structuredContent"]["path"]
        which = ("--complete-ref-type", "ref/resource", "--complete-ref", report["templates"][0])
        typed = ("--complete-arg-name", "path", "--complete-arg-value", TASK["typed"])
        report["completed"] = run("prompts/complete", *which, *typed)["values"]
        report["updated"] = saved()
        run("disconnect")
    finally:
        run("daemon", "stop")
    print(json.dumps(report))


def objects(stream):
    """The JSON objects of a stream that pretty-prints them."""
    text, decoder = "", json.JSONDecoder()
    for line in stream:
        text += line
        try:
            value, end = decoder.raw_decode(text)
        except json.JSONDecodeError:
            continue  # not all of it yet
        text = text[end:].lstrip()
        yield value


with tempfile.TemporaryDirectory(prefix="mcpdo-") as scratch:
    main(scratch)
