"""The network between nodes and PostgreSQL: TCP proxies that can be cut, go silent or be slow, by pair.

Every member has a name ("n1", "pg"). A proxy stands before each member; which member a connection comes from is
given (PostgreSQL's proxies: one for each node), or found by the process that holds its other end (the nodes'
proxies, whose address is the same for all other nodes). So no privileges are needed.

Modes of a pair, in the direction of connecting:
  pass   bytes go through
  cut    open connections are reset, new ones too
  hang   nothing goes through in either direction, and no connection ends: as behind a silent firewall. What was
         held back goes through later if the pair passes again, as with TCP
  slow   every piece waits a time
"""

import asyncio
import contextlib
import os
import pathlib
import socket
import struct
import threading

from ports import steady_port

PIECE_BYTES = 1 << 16
CALL_SECONDS_MAX = 10


class Network:
    """All proxies, in one thread."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.modes = {}
        self.connections = set()
        self.changed = None
        self.servers = []
        # The process of each member, by name: those whose connections have to be found.
        self.pids = {}
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self._call(self._begin())

    async def _begin(self):
        self.changed = asyncio.Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(CALL_SECONDS_MAX)

    def close(self):
        self._call(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(CALL_SECONDS_MAX)
        self.loop.close()

    async def _end(self):
        for server in self.servers:
            server.close()
        for connection in list(self.connections):
            connection.reset()
        self.changed.set()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if tasks:
            await asyncio.wait(tasks, timeout=CALL_SECONDS_MAX / 2)

    def proxy(self, target, port_of_target, source=None, port=None):
        """Opens a proxy before a member and returns its port. `port_of_target()` is called for each connection;
        `source` is the member that connects, if only one does."""
        port = port or steady_port()
        self._call(self._listen(port, source, target, port_of_target))
        return port

    async def _listen(self, port, source, target, port_of_target):
        async def serve(reader, writer):
            name = source or await self.loop.run_in_executor(None, self._source_of, writer, port)
            await self._serve(name, target, port_of_target(), reader, writer)

        self.servers.append(await asyncio.start_server(serve, "127.0.0.1", port, backlog=256))

    def set(self, source, target, mode, seconds=0.0):
        """Sets the mode of a pair; `seconds` is for `slow`."""
        self._call(self._set({(source, target): (mode, seconds)}))

    def isolate(self, one, others, mode="cut"):
        """Sets the mode of a member to and from all others."""
        pairs = [(one, other) for other in others] + [(other, one) for other in others]
        self._call(self._set({pair: (mode, 0.0) for pair in pairs}))

    def heal(self):
        """Lets every pair pass again."""
        self._call(self._set({pair: ("pass", 0.0) for pair in self.modes}))

    async def _set(self, modes):
        self.modes.update(modes)
        for connection in list(self.connections):
            if self._mode(connection.pair)[0] == "cut":
                connection.reset()
        before, self.changed = self.changed, asyncio.Event()
        before.set()

    def _mode(self, pair):
        return self.modes.get(pair, ("pass", 0.0))

    async def _serve(self, source, target, port, reader, writer):
        connection = Connection((source, target), writer)
        self.connections.add(connection)
        try:
            if not await self._may_pass(connection):
                return
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                onward_reader, onward = await asyncio.open_connection("127.0.0.1", port)
                connection.onward = onward
                no_delay(writer)
                no_delay(onward)
                await asyncio.gather(
                    self._pump(connection, reader, onward), self._pump(connection, onward_reader, writer))
        finally:
            connection.reset()
            self.connections.discard(connection)

    async def _pump(self, connection, reader, writer):
        try:
            while piece := await reader.read(PIECE_BYTES):
                if not await self._may_pass(connection):
                    return
                writer.write(piece)
                await writer.drain()
            if await self._may_pass(connection) and writer.can_write_eof():
                writer.write_eof()
        except OSError:
            connection.reset()

    async def _may_pass(self, connection):
        """Waits as long as the pair hangs; False if the connection is over."""
        while not connection.is_over:
            mode, seconds = self._mode(connection.pair)
            if mode == "cut":
                connection.reset()
                return False
            if mode == "slow":
                await asyncio.sleep(seconds)
            if mode != "hang":
                return True
            await self.changed.wait()
        return False

    def _source_of(self, writer, port):
        """The member whose process holds the other end; None for another program."""
        name = writer.get_extra_info("peername")
        inode = inode_of_connection(name[1], port) if name else None
        if inode is None:
            return None
        return next((member for member, pid in list(self.pids.items()) if holds(pid, inode)), None)


class Connection:
    def __init__(self, pair, writer):
        self.pair, self.writer, self.onward = pair, writer, None
        self.is_over = False

    def reset(self):
        self.is_over = True
        for writer in (self.writer, self.onward):
            if writer and not writer.transport.is_closing():
                with contextlib.suppress(OSError):
                    writer.get_extra_info("socket").setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()


def no_delay(writer):
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def inode_of_connection(local_port, remote_port):
    """The inode of a socket of 127.0.0.1 by its two ports (proc(5), /proc/net/tcp)."""
    wanted = (f"0100007F:{local_port:04X}", f"0100007F:{remote_port:04X}")
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in table:
            fields = line.split()
            if tuple(fields[1:3]) == wanted:
                return fields[9]
    return None


def holds(pid, inode):
    """Whether a process has this socket open."""
    wanted = f"socket:[{inode}]"
    with contextlib.suppress(OSError):
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if os.readlink(entry) == wanted:
                    return True
    return False
