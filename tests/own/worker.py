"""A worker that takes jobs from a list of Redis'.

python3 worker.py ADDRESS:PORT
"""

from __future__ import annotations

import socket
import sys

TAKE = b"*3\r\n$5\r\nBLPOP\r\n$4\r\njobs\r\n$1\r\n1\r\n"

if __name__ == "__main__":
    host, _, port = sys.argv[1].rpartition(":")
    with socket.create_connection((host, int(port))) as queue:
        print("waiting for jobs", flush=True)
        while True:
            queue.sendall(TAKE)
            if not queue.recv(1000):
                break
