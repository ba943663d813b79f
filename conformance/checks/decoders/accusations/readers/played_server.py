"""A server that plays a recorded conversation on 127.0.0.1, so that a client that connects needs no MySQL.

TALK has the commands of a client, each with the packets of its answer. Any password is right.
"""

import base64
import socket
import struct
import threading

NATIVE = b"mysql_native_password\0"
NONCE = b"12345678abcdefghijkl"
OK = b"\0\0\0\2\0\0\0"
NOT_RECORDED = []  # what was asked, and has no answer
DUMPS = (0x12, 0x1E)  # COM_BINLOG_DUMP, COM_BINLOG_DUMP_GTID
FINE = (0x02, 0x0E, 0x15, 0x1F)  # COM_INIT_DB, COM_PING, COM_REGISTER_SLAVE, COM_RESET_CONNECTION
SILENT = (0x01, 0x19)  # COM_QUIT, COM_STMT_CLOSE


class Connection(threading.Thread):
    def __init__(self, client, answers):
        super().__init__(daemon=True)
        self.client, self.answers, self.sequence = client, answers, 0

    def receive(self):
        whole = b""
        while True:
            head = self.take(4)
            size, self.sequence = int.from_bytes(head[:3], "little"), head[3] + 1
            whole += self.take(size)
            if size < 0xFFFFFF:
                return whole

    def take(self, size):
        data = b""
        while len(data) < size:
            more = self.client.recv(size - len(data))
            if not more:
                raise ConnectionError("the client left")
            data += more
        return data

    def send(self, packets):
        out = b""
        for packet in packets:
            for start in range(0, len(packet) + 1, 0xFFFFFF):
                part = packet[start : start + 0xFFFFFF]
                out += len(part).to_bytes(3, "little") + bytes([self.sequence & 0xFF]) + part
                self.sequence += 1
        self.client.sendall(out)

    def run(self):
        try:
            flags = 0x3BA60F | 0x8000
            greeting = struct.pack(
                "<I8sxHBHHB10x12sx", 1, NONCE[:8], flags & 0xFFFF, 255, 2, flags >> 16, 21, NONCE[8:]
            )
            self.send([b"\x0a9.7.4\0" + greeting + NATIVE])
            if NATIVE not in self.receive() + b"\0":
                self.send([b"\xfe" + NATIVE + NONCE + b"\0"])
                self.receive()
            self.send([OK])
            while True:
                self.sequence = 0
                self.answer(self.receive())
        except OSError:
            self.client.close()

    def answer(self, command):
        known = self.answers.get(command[:1] if command[0] in DUMPS else command)
        if known:
            self.send(known.pop(0) if len(known) > 1 else known[0])
        elif command[0] in FINE or command[:4].upper() == b"\x03SET":
            self.send([OK])
        elif command[0] == SILENT[0]:
            raise ConnectionError("the client left")
        elif command[0] not in SILENT:
            NOT_RECORDED.append(command)
            self.send([b"\xff\x28\x04#42000this was not recorded"])


def listen(listener, answers):
    while True:
        Connection(listener.accept()[0], answers).start()


def play(talk, place):
    """The address of a server that plays this. ``place``: where the log begins."""
    answers = {}
    for command, packets in talk:
        key = command[:1] if command[0] in DUMPS else command
        answers.setdefault(key, []).append([base64.b64decode(packet) for packet in packets])
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=listen, args=(listener, answers), daemon=True).start()
    return {"host": "127.0.0.1", "port": listener.getsockname()[1], "user": "lab", "password": "lab", **place}
