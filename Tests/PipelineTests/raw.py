"""A WebSocket that speaks Socket.IO packet by packet."""

import json

import websocket


class Raw:
    """One connection, open and admitted."""

    def __init__(self, url, query="", auth="{}"):
        self.socket = websocket.create_connection(
            url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket" + query, timeout=10
        )
        self.open = json.loads(self.take("0"))
        self.say("40" + auth)
        self.take("40")

    def say(self, text):
        self.socket.send(text)

    def take(self, prefix):
        """The rest of the next packet with that beginning; pings are answered."""
        while True:
            text = self.socket.recv()
            if text == "2":
                self.say("3")
            elif text.startswith(prefix):
                return text[len(prefix) :]

    def ask(self, text, number=7):
        self.say(f"42{number}{text}")
        return json.loads(self.take(f"43{number}"))[0]

    def is_closed(self):
        try:
            while self.socket.recv():
                pass
        except (websocket.WebSocketException, OSError):
            pass
        return not self.socket.connected
