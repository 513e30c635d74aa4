"use strict";

// Follows a stream with EventSource; everything it gets is in `events`.
function follow(url, names) {
  const source = new EventSource(url);
  const log = { source, events: [], opened: 0, failed: 0 };
  source.onopen = () => { log.opened += 1; };
  source.onerror = () => { log.failed += 1; };
  for (const name of names) {
    // `error` is also the event of a lost connection, which has no data.
    source.addEventListener(name, (event) => {
      if (event.data !== undefined) log.events.push({ name, id: event.lastEventId, data: JSON.parse(event.data) });
    });
  }
  return log;
}

async function post(url, body, headers) {
  const response = await fetch(url, {
    method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

// Reads a stream that fetch opened with a body, as docs/changes.md shows.
async function read(url, body, headers) {
  const stop = new AbortController();
  const response = await fetch(url, {
    method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body),
    signal: stop.signal,
  });
  const log = {
    status: response.status, stream: response.headers.get("Live-Stream-Id"), events: [], ended: false, stop,
  };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  (async () => {
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const frames = (rest + value).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) {
        const event = {};
        for (const line of frame.split("\n")) {
          const [, field, text] = line.match(/^(\w*): ?(.*)$/) ?? [];
          if (field) event[field] = text;
        }
        if (event.data) log.events.push({ name: event.event, id: event.id, data: JSON.parse(event.data) });
      }
    }
  })().catch(() => {}).finally(() => { log.ended = true; });
  return log;
}

// Speaks graphql-transport-ws; every message and the end are kept.
function converse(url, init) {
  const socket = new WebSocket(url, "graphql-transport-ws");
  const log = { socket, messages: [], opened: false, closed: null };
  socket.onopen = () => {
    log.opened = true;
    socket.send(JSON.stringify({ type: "connection_init", payload: init ?? {} }));
  };
  socket.onmessage = (event) => { log.messages.push(JSON.parse(event.data)); };
  socket.onclose = (event) => { log.closed = event.code; };
  log.send = (message) => socket.send(JSON.stringify(message));
  return log;
}
