import HTTPTypes
import HTTPWire
import Transport
import WebSocketWire
import WebSockets

/// The switch of a connection to WebSocket. From then on the session only passes the stream's callbacks
/// on; it keeps the connection's place and ends with it.
extension ServerSession {
  /// Responds to a handshake: switches the connection, or sends the problem.
  func beginWebSocket(
    _ upgrade: WebSocketUpgrade, _ response: ServerResponse, for request: ServerRequest,
    on reactor: isolated Reactor
  ) {
    do throws(WebSocketHandshakeFault) {
      let handshake = try request.webSocketHandshake
      switchProtocols(handshake, upgrade, response, for: request, on: reactor)
    } catch {
      refuseHandshake(error, for: request, on: reactor)
    }
  }

  private func refuseHandshake(
    _ fault: WebSocketHandshakeFault, for request: ServerRequest, on reactor: isolated Reactor
  ) {
    var response = Self.refusalResponse(.badHandshake(fault), to: request, of: server)
    switch fault {
    case .unsupportedVersion: response.fields[.secWebSocketVersion] = "13"
    case .notGET: response.fields[.allow] = "GET"
    default: break
    }
    if fault.status == 426 { response.fields[.upgrade] = "websocket" }
    var prepared = PreparedResponse(
      status: response.status.code, fields: response.fields, body: .none)
    if case .bytes(let bytes) = response.body { prepared.body = .bytes(bytes) }
    switch connection.responseIsReady(isStreamed: false) {
    case .discard: break
    case .waitForBody: waitForBody(prepared)
    case .send: send(prepared, on: reactor)
    }
  }

  private func switchProtocols(
    _ handshake: WebSocketServerHandshake, _ upgrade: WebSocketUpgrade, _ response: ServerResponse,
    for request: ServerRequest, on reactor: isolated Reactor
  ) {
    let (agreement, fields) = handshake.agree(
      subprotocol: upgrade.subprotocol, deflate: upgrade.limits.deflate)
    let start = server.output.count
    appendUpgradeHead(fields, response, for: request, on: reactor)
    exchange?.status = 101
    exchange?.bytesWritten += server.output.count - start
    exchange?.endSpan(names: server.names)
    if let exchange { noteResponse(exchange, on: reactor) }
    exchange = nil
    exchangeNumber += 1
    flushOutput()
    guard stream.isOpen else { return }
    stopHTTP()
    let server = server
    // Clients mask their frames, servers do not.
    let channel = WebSocketChannel(
      WebSocketConnection(
        role: .server, limits: upgrade.limits, deflate: agreement.deflate, makeMask: { 0 }),
      stream: stream, limits: upgrade.limits,
      noteSent: { server.tally.bytesSent += $0 }, on: reactor)
    webSocket = ServerWebSocket(pump: channel.pump(on: reactor))
    server.shared.counters.webSocketOpened()
    serve(channel, agreement, upgrade, on: reactor)
    if server.isDraining { closeWebSocket(Self.drainReason) }
    if server.isHolding { closeWebSocket(Self.holdReason) }
    if !isTakingIn { passKeptOn() }
  }

  private func appendUpgradeHead(
    _ fields: [(name: StaticString, value: String)], _ response: ServerResponse,
    for request: ServerRequest, on reactor: isolated Reactor
  ) {
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    let prepared = PreparedResponse(status: 101, fields: response.fields, body: .none)
    ResponseHeadFields.append(
      prepared, requestID: request.id, stamp: server.stamp, to: &server.output)
    for field in fields { server.output.appendField(field.name, field.value.utf8) }
    server.output.appendLineEnd()
  }

  /// Ends everything of HTTP on this connection: its deadlines are the WebSocket's own from here on.
  private func stopHTTP() {
    connection.stopPersisting()
    timer?.cancel()
    readDeadline = nil
    drainDeadline = nil
    bodyPace = nil
    bodyHeldSince = nil
    writePace = nil
    idleSince = nil
    stream.resumeReading()
  }

  private func serve(
    _ channel: WebSocketChannel, _ agreement: WebSocketAgreement, _ upgrade: WebSocketUpgrade,
    on reactor: isolated Reactor
  ) {
    let peer = WebSocketPeer(channel, subprotocol: agreement.subprotocol)
    let term = server.term
    term.requestBegan()
    let task = Task.immediate(executorPreference: reactor.loop) {
      await upgrade.serve(peer)
      peer.close(code: WebSocketClose.normal, reason: "")
      term.requestEnded()
    }
    webSocket?.task = task
  }

  /// Passes the bytes on that arrived after the request: they are the first frames.
  func passKeptOn() {
    guard let webSocket, !kept.isEmpty else { return }
    let input = kept
    kept = []
    input.withUnsafeBytes { webSocket.pump.received($0) }
  }

  static var drainReason: String { "the server is shutting down" }
  static var holdReason: String { "the service reloads its operations" }

  /// Closes the WebSocket. Its handler ends at once, the connection when the client has closed its side too.
  func closeWebSocket(_ reason: String) {
    webSocket?.pump.close(WebSocketClose(code: WebSocketClose.goingAway, reason: reason))
  }

  /// Handles the end of the stream of a WebSocket.
  func webSocketClosed(_ reason: CloseReason) {
    guard let webSocket = webSocket.take() else { return }
    webSocket.pump.closed(reason)
    webSocket.task?.cancel()
    server.shared.counters.webSocketClosed()
  }
}

/// The WebSocket that a session has switched to.
struct ServerWebSocket {
  let pump: WebSocketPump
  /// The task of the handler that serves it.
  var task: Task<Void, Never>?
}
