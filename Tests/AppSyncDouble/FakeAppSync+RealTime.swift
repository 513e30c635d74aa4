import GraphQL
import HTTPWire
package import LosslessJSON
import Model
import Synchronization
package import VendorDouble

/// The real-time endpoint.
extension FakeAppSync {
  /// Accepts a connection with its authorization in the query or in a subprotocol.
  ///
  /// - Returns: nil for another path, without `graphql-ws`, and without exactly one authorization.
  package func connect(target: String, subprotocols: [String]) -> FakeSocket? {
    let parts = target.split(separator: "?", maxSplits: 1)
    guard let path = parts.first, ["/graphql", "/graphql/realtime"].contains(String(path)),
      subprotocols.first == "graphql-ws"
    else { return nil }
    var authorizations: [[UInt8]?] = subprotocols.dropFirst().map { offered in
      guard offered.hasPrefix("header-") else { return nil }
      return Base64URL.decode(String(offered.dropFirst("header-".count)))
    }
    var way = "header"
    if parts.count > 1 {
      way = "query"
      let query = try? QueryString(String(parts[1]))
      guard let query, query.parameters.map(\.name) == ["header", "payload"],
        query["payload"] == "e30="
      else { return nil }
      // Clients send `+` as it is, which a query reads as a blank.
      authorizations.append(
        query["header"].flatMap { Base64.decode($0.replacing(" ", with: "+")) })
    }
    guard authorizations.count == 1, let bytes = authorizations[0],
      let object = try? JSONValue(parsing: bytes)
    else { return nil }
    return accept(object, way)
  }

  private func accept(_ authorization: JSONValue, _ way: String) -> FakeSocket {
    let socket = FakeSocket(subprotocol: "graphql-ws")
    socket.use(
      received: { [self] socket, text in receive(text, from: socket) },
      ended: { [self] socket in
        state.withLock { $0.sessions[ObjectIdentifier(socket)] = nil }
      })
    let refusal = refusal(of: authorization)
    state.withLock { state in
      state.connectionCount += 1
      state.log.append("connect \(way)")
      state.sessions[ObjectIdentifier(socket)] = Session(socket: socket, refusal: refusal)
    }
    return socket
  }

  /// Publishes an event, as a mutation does: to the subscriptions of a field whose arguments equal the
  /// members of the value.
  package func publish(_ field: String, _ value: JSONValue) {
    for session in state.withLock({ Array($0.sessions.values) }) {
      for (id, subscription) in session.subscriptions.sorted(by: { $0.key < $1.key })
      where subscription.field == field {
        let matches = (subscription.arguments.members ?? []).allSatisfy {
          value[$0.name] == $0.value
        }
        guard matches else { continue }
        let payload = subscription.operation.execute { _, _ in value }
        send("data", id, payload, to: session.socket)
      }
    }
  }

  package func sendKeepAlive() {
    for session in state.withLock({ Array($0.sessions.values) }) {
      session.socket.send(Array(#"{"type":"ka"}"#.utf8))
    }
  }

  private func session(_ socket: FakeSocket) -> Session? {
    state.withLock { $0.sessions[ObjectIdentifier(socket)] }
  }

  private func send(_ type: String, _ id: String?, _ payload: JSONValue?, to socket: FakeSocket) {
    var members = [JSONMember("type", .string(type))]
    if let id { members.insert(JSONMember("id", .string(id)), at: 0) }
    if let payload { members.append(JSONMember("payload", payload)) }
    socket.send(JSONValue.object(members).bytes)
  }

  private func fail(_ id: String?, _ type: String, _ message: String, _ socket: FakeSocket) {
    send(
      "error", id, ["errors": [["errorType": .string(type), "message": .string(message)]]],
      to: socket)
  }

  private func receive(_ text: [UInt8], from socket: FakeSocket) {
    guard let session = session(socket) else { return }
    guard let message = try? JSONValue(parsing: text), let members = message.members,
      let type = message["type"]?.string,
      members.allSatisfy({ ["id", "type", "payload"].contains($0.name) })
    else { return fail(nil, "UnsupportedOperation", "not a message", socket) }
    if type == "connection_init" { return initialise(session, message) }
    // Messages before the acknowledgement are ignored.
    guard session.isAcknowledged else { return note("ignored \(type)") }
    switch type {
    case "start": start(session, message)
    case "stop": stop(session, message)
    default:
      fail(
        message["id"]?.string, "UnsupportedOperation",
        "\(type) not supported through the realtime channel", socket)
    }
  }

  private func initialise(_ session: Session, _ message: JSONValue) {
    note("init")
    if let refusal = session.refusal {
      let error: JSONValue = [
        "errorType": .string(refusal.type), "errorCode": .number(JSONNumber(refusal.code)),
        "message": .string(refusal.message),
      ]
      send("connection_error", nil, ["errors": [error]], to: session.socket)
      return session.socket.close(1000)
    }
    state.withLock { $0.sessions[ObjectIdentifier(session.socket)]?.isAcknowledged = true }
    let milliseconds = JSONNumber(Int64(keepAlive / .milliseconds(1)))
    send(
      "connection_ack", nil, ["connectionTimeoutMs": .number(milliseconds)], to: session.socket)
    session.socket.send(Array(#"{"type":"ka"}"#.utf8))
  }

  private func start(_ session: Session, _ message: JSONValue) {
    let socket = session.socket
    guard let id = message["id"]?.string, !id.isEmpty else {
      return fail(nil, "UnsupportedOperation", "start has no id", socket)
    }
    guard let payload = message["payload"], let data = payload["data"]?.string,
      (payload.members ?? []).allSatisfy({ ["data", "extensions"].contains($0.name) }),
      let request = try? JSONValue(parsing: data)
    else {
      return fail(
        id, "UnsupportedOperation", "unknown not supported through the realtime channel", socket)
    }
    if let refusal = refusal(of: payload["extensions"]?["authorization"] ?? .null) {
      return fail(id, refusal.type, refusal.message, socket)
    }
    if session.subscriptions[id] != nil {
      return fail(id, "DuplicatedOperationError", "the id is in use", socket)
    }
    guard session.subscriptions.count < subscriptionsMax else {
      // An object in place of the list.
      let error: JSONValue = [
        "errorType": "MaxSubscriptionsReachedError",
        "message": .string("Max number of \(subscriptionsMax) subscriptions reached"),
      ]
      return send("error", id, ["errors": error], to: socket)
    }
    do throws(FakeOperation.Fault) {
      let operation = try FakeOperation(request)
      guard operation.kind == .subscription, operation.roots.count == 1 else {
        throw FakeOperation.Fault(message: "a subscription selects one root field")
      }
      let root = operation.roots[0]
      let isHeld = state.withLock { state in
        state.log.append("start \(root.name.value)")
        if state.holdsAcknowledgements { return true }
        state.sessions[ObjectIdentifier(socket)]?.subscriptions[id] = Subscription(
          operation: operation, field: root.name.value, arguments: operation.arguments(of: root))
        return false
      }
      if !isHeld { send("start_ack", id, nil, to: socket) }
    } catch {
      fail(id, "ValidationError", error.message, socket)
    }
  }

  private func stop(_ session: Session, _ message: JSONValue) {
    note("stop")
    guard let id = message["id"]?.string else { return }
    let wasKnown = state.withLock { state in
      let key = ObjectIdentifier(session.socket)
      return state.sessions[key]?.subscriptions.removeValue(forKey: id) != nil
    }
    if wasKnown { send("complete", id, nil, to: session.socket) }
  }
}
