#!/usr/bin/env python3
"""A whole client of the dialect `ack`: document 004, literally (PROTOCOL.md, section 6).

Joins a server, flies for a while, keeps pending inputs as section 4.1 of the document says, and prints the log
lines of its section 7.3. Python 3 and nothing else:

    python3 ack_client.py [HOST [PORT [SECONDS [GAME]]]]     GAME is RTYP, as it is without one, or PONG
"""
import socket
import struct
import sys
import time
from collections import deque

CLIENT_INPUT, HELLO, JOIN, LEAVE = 0x10, 0x20, 0x21, 0x23
SERVER_SNAPSHOT, CHALLENGE, WELCOME, REFUSED, BYE = 0xA0, 0xB0, 0xB1, 0xB2, 0xB4
UP, DOWN, LEFT, RIGHT, SHOOT = 1, 2, 4, 8, 16
ENTITY = struct.Struct(">IHffhhHHI")  # id, type, x, y, vx, vy, health, flags, last_ack_sequence
SCOREBOARD = 256
STEP = 2.5  # px a tick: 150 px/s
MAX_PENDING_INPUTS, HIGH_LATENCY, CONNECTION_LOST = 64, 30, 60


class Server:
    """The other end: datagrams with the nine bytes of document 004's header."""

    def __init__(self, host, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((host, port))
        self.sequence = 0

    def send(self, kind, payload=b""):
        self.sequence += 1
        self.socket.send(struct.pack(">BBBHI", 1, kind, 0, len(payload), self.sequence) + payload)

    def receive(self, seconds):
        """The next packet, or (None, b"") if none comes in time."""
        self.socket.settimeout(max(seconds, 0.0001))
        try:
            bytes_ = self.socket.recv(2048)
        except (TimeoutError, socket.timeout, ConnectionRefusedError):
            return None, b""
        version, kind, _flags, length, _sequence = struct.unpack_from(">BBBHI", bytes_)
        return (kind, bytes_[9:]) if version == 1 and length == len(bytes_) - 9 else (None, b"")

    def ask(self, kind, payload, answer):
        """Asks every half second until it is answered."""
        for _ in range(10):
            self.send(kind, payload)
            until = time.monotonic() + 0.5
            while time.monotonic() < until:
                got, body = self.receive(until - time.monotonic())
                if got == answer:
                    return body
                if got == REFUSED:
                    sys.exit("refused: " + body[1:].decode())
        sys.exit("no answer")


def replay(x, y, pending):
    """Where the ship is after the inputs that the server has not processed yet."""
    for _sequence, flags, _timestamp in pending:
        x = min(max(x + STEP * (bool(flags & RIGHT) - bool(flags & LEFT)), 0.0), 980.0)
        y = min(max(y + STEP * (bool(flags & DOWN) - bool(flags & UP)), 0.0), 588.0)
    return x, y


def main(host="127.0.0.1", port="4300", seconds="10", game="RTYP"):
    server = Server(host, int(port))
    cookie = server.ask(HELLO, bytes(32), CHALLENGE)
    join = struct.pack(">16s4s16s", cookie, game.encode(), b"Python")
    player_id, entity_id, _tick, rate = struct.unpack(">IIIB", server.ask(JOIN, join, WELCOME))
    print(f"player {player_id} steers entity {entity_id}")
    pending, sequence, acked, heard = deque(maxlen=MAX_PENDING_INPUTS), 0, 0, time.monotonic()
    due, end = heard, heard + float(seconds)
    while time.monotonic() < end:
        if time.monotonic() >= due:  # one input a tick
            due += 1 / rate
            sequence += 1
            flags = SHOOT | (RIGHT, DOWN, LEFT, UP)[sequence // rate % 4]
            timestamp = int(time.monotonic() * 1000) & 0xFFFFFFFF
            server.send(CLIENT_INPUT, struct.pack(">IHIf", sequence, flags, timestamp, 1 / rate))
            pending.append((sequence, flags, timestamp))
            print(f"[Client] INPUT_SENT    seq={sequence} flags=0x{flags:02x} ts={timestamp}")
            if len(pending) == HIGH_LATENCY + 1:
                print("High latency detected")
            if len(pending) > CONNECTION_LOST or time.monotonic() - heard > 10:
                sys.exit("Connection lost")
        kind, body = server.receive(due - time.monotonic())
        if kind == BYE:
            sys.exit("goodbye: " + body[1:].decode())
        if kind != SERVER_SNAPSHOT:
            continue
        heard = time.monotonic()
        for id_, type_, x, y, _vx, _vy, health, phase, ack in ENTITY.iter_unpack(body[6:]):
            if id_ == entity_id and ack > acked:
                acked = ack
                while pending and pending[0][0] <= ack:  # section 4.1: all up to it are confirmed
                    pending.popleft()
                print(f"[Client] ACK_RECEIVED  seq={ack} ({len(pending)} inputs pending)")
                ship = replay(x, y, pending)
            if type_ == SCOREBOARD:
                score = f"scores {x:.0f} and {y:.0f}, {health} lives, phase {phase}"
    for _ in range(3):
        server.send(LEAVE)
    print(f"sent {sequence} inputs, {acked} is acknowledged; ship at {ship}; {score}")


if __name__ == "__main__":
    main(*sys.argv[1:])
