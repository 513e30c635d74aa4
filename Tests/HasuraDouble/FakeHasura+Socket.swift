import GraphQL
import LosslessJSON
import Synchronization
package import VendorDouble

/// The WebSocket side: `graphql-transport-ws`, and the older protocol for all other subprotocols.
extension FakeHasura {
  /// Accepts a connection.
  ///
  /// - Returns: nil for a path that is not the endpoint's.
  package func connect(target: String, subprotocols: [String]) -> FakeSocket? {
    guard target == "/v1/graphql" else { return nil }
    let isNew = subprotocols.contains("graphql-transport-ws")
    let socket = FakeSocket(
      subprotocol: isNew
        ? "graphql-transport-ws" : subprotocols.contains("graphql-ws") ? "graphql-ws" : nil)
    socket.use(
      received: { [self] socket, text in receive(text, from: socket) },
      ended: { [self] socket in
        state.withLock { $0.sessions[ObjectIdentifier(socket)] = nil }
      })
    state.withLock { state in
      state.connectionCount += 1
      state.log.append("connect")
      state.sessions[ObjectIdentifier(socket)] = Session(socket: socket, speaksTransportWS: isNew)
    }
    // It has been seen before the client's first message.
    if !isNew { socket.send(Array(#"{"type":"ka"}"#.utf8)) }
    return socket
  }

  /// Sends each live query whose result has changed.
  package func change() {
    let sessions = state.withLock { Array($0.sessions.values) }
    for session in sessions {
      for id in session.subscriptions.keys.sorted() { push(id, to: session.socket) }
    }
  }

  /// Sends the keep-alive message to all connections.
  package func keepAlive() {
    for session in state.withLock({ Array($0.sessions.values) }) {
      let text =
        session.speaksTransportWS
        ? #"{"type":"ping","payload":{"message":"keepalive"}}"# : #"{"type":"ka"}"#
      session.socket.send(Array(text.utf8))
    }
  }

  private func session(_ socket: FakeSocket) -> Session? {
    state.withLock { $0.sessions[ObjectIdentifier(socket)] }
  }

  private func close(_ socket: FakeSocket, _ code: UInt16, _ reason: String) {
    note("close \(code)")
    socket.close(code, #"{"server_error_msg":"\#(code): \#(reason)"}"#)
  }

  private func receive(_ text: [UInt8], from socket: FakeSocket) {
    guard let session = session(socket) else { return }
    guard let message = try? JSONValue(parsing: text), let members = message.members,
      let type = message["type"]?.string,
      members.allSatisfy({ ["id", "type", "payload"].contains($0.name) })
    else { return close(socket, 4400, "invalid message") }
    switch type {
    case "connection_init": initialise(session, message["payload"] ?? [:])
    case "ping" where session.speaksTransportWS: socket.send(Array(#"{"type":"pong"}"#.utf8))
    case "pong" where session.speaksTransportWS: break
    // Either word is accepted for either protocol; a client of ours uses its own.
    case session.speaksTransportWS ? "subscribe" : "start": start(session, message)
    case session.speaksTransportWS ? "complete" : "stop": stop(session, message)
    case "connection_terminate" where !session.speaksTransportWS: socket.close(1000)
    default: close(socket, 4400, "unexpected message \(type)")
    }
  }

  private func initialise(_ session: Session, _ payload: JSONValue) {
    let socket = session.socket
    guard session.role == nil else {
      return close(socket, 4429, "too many initialisation requests")
    }
    let headers = payload["headers"] ?? [:]
    let isWellFormed =
      (payload.members ?? []).allSatisfy { $0.name == "headers" }
      && (headers.members ?? []).allSatisfy { $0.value.string != nil }
    guard isWellFormed else { return close(socket, 4400, "payload has more than headers") }
    switch admit(headers) {
    case .success(let admission):
      state.withLock { state in
        state.log.append("init \(admission.role)")
        state.sessions[ObjectIdentifier(socket)]?.role = admission.role
        state.sessions[ObjectIdentifier(socket)]?.token = admission.token
      }
      socket.send(Array(#"{"type":"connection_ack"}"#.utf8))
    case .failure(let refusal):
      if session.speaksTransportWS { return close(socket, 4403, refusal.message) }
      // The older protocol's payload is a plain text.
      let error: JSONValue = [
        "type": "connection_error", "payload": .string(refusal.message),
      ]
      socket.send(error.bytes)
      close(socket, 1011, refusal.message)
    }
  }

  private func start(_ session: Session, _ message: JSONValue) {
    let socket = session.socket
    guard session.role != nil else { return close(socket, 4401, "Unauthorized") }
    guard let id = message["id"]?.string, !id.isEmpty, let payload = message["payload"],
      let members = payload.members
    else { return close(socket, 4400, "no id or no payload") }
    if session.subscriptions[id] != nil {
      return close(socket, 4409, "Subscriber for \(id) already exists")
    }
    let known: Set<String> = ["query", "variables", "operationName", "extensions"]
    do throws(FakeOperation.Fault) {
      if let unknown = members.first(where: { !known.contains($0.name) }) {
        throw FakeOperation.Fault(message: "unknown member \(unknown.name)")
      }
      let operation = try FakeOperation(payload)
      guard operation.kind == .subscription else {
        throw FakeOperation.Fault(message: "this double runs subscriptions alone")
      }
      guard operation.roots.filter({ $0.name.value != "__typename" }).count == 1 else {
        throw FakeOperation.Fault(message: "subscriptions must select one top level field")
      }
      state.withLock { state in
        state.log.append("start \(operation.name ?? "")")
        state.sessions[ObjectIdentifier(socket)]?.subscriptions[id] = Subscription(
          operation: operation)
      }
      push(id, to: socket)
    } catch {
      let errors = Self.error("$.selectionSet", "validation-failed", error.message)["errors"]
      let payload: JSONValue =
        session.speaksTransportWS ? errors ?? .null : ["errors": errors ?? .null]
      socket.send(
        JSONValue.object([
          JSONMember("id", .string(id)), JSONMember("type", "error"),
          JSONMember("payload", payload),
        ]).bytes)
    }
  }

  private func stop(_ session: Session, _ message: JSONValue) {
    guard let id = message["id"]?.string else {
      return close(session.socket, 4400, "no id")
    }
    let wasKnown = state.withLock { state in
      state.log.append("stop")
      let key = ObjectIdentifier(session.socket)
      return state.sessions[key]?.subscriptions.removeValue(forKey: id) != nil
    }
    if wasKnown, !session.speaksTransportWS {
      session.socket.send(Array(#"{"id":"\#(id)","type":"complete"}"#.utf8))
    }
  }

  /// Sends a live query's result if it differs from the last one.
  private func push(_ id: String, to socket: FakeSocket) {
    guard let session = session(socket), let role = session.role,
      let subscription = session.subscriptions[id]
    else { return }
    let result = subscription.operation.execute { resolve($0, $1, role) }
    guard result != subscription.last else { return }
    state.withLock {
      $0.sessions[ObjectIdentifier(socket)]?.subscriptions[id]?.last = result
    }
    let message: JSONValue = [
      "id": .string(id), "type": .string(session.speaksTransportWS ? "next" : "data"),
      "payload": result,
    ]
    socket.send(message.bytes)
  }
}
