"""A back end that follows a room and answers: each new note gets a greeting beside it. Only Python's standard library.

    python3 greeter.py http://127.0.0.1:8080/api/rooms/demo
"""

import json
import sys
import time
import urllib.request


def events(room, place=None):
    """The room's events for ever, from a place on: after a loss they go on behind the last one."""
    while True:
        request = urllib.request.Request(f"{room}/events", headers={"Last-Event-ID": place} if place else {})
        try:
            with urllib.request.urlopen(request, timeout=30) as stream:
                event = {}
                for line in stream:
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    event[name] = value
                    if not line.strip() and "data" in event:
                        yield event["event"], json.loads(event["data"])
                        place = event["id"]
                    if not line.strip():
                        event = {}
        except OSError as problem:
            print(f"{problem}; trying again", file=sys.stderr)
        time.sleep(1)


def commit(room, key, event, data):
    """Changes the room. With the same key it may be called again: what it does is done once."""
    body = json.dumps({"event": event, "data": data}).encode()
    request = urllib.request.Request(f"{room}/commits", body, {"Idempotency-Key": key})
    with urllib.request.urlopen(request, timeout=15) as answer:
        return json.load(answer)


def main(room):
    for event, data in events(room):
        # First the whole room, and again where events were lost for good.
        notes = data["elements"] if event == "room:reset" else [data] if event == "element:created" else []
        for note in notes:
            if note["type"] == "note" and note["createdBy"] != "guest":
                text = f"Hello, {note['createdBy']}!"
                greeting = {"type": "note", "positionX": note["positionX"] + 220, "content": text}
                answer = commit(room, f"greeting-{note['id']}", "element:create", {"element": greeting})
                print(answer["seq"], text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
