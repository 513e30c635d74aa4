import HTTPClient
import LosslessJSON

/// Writes the client's messages in one dialect.
struct UpstreamMessageWriter: Sendable {
  let dialect: SubscriptionDialect
  let vendor: Dialect
  /// The host of the GraphQL endpoint, which AppSync's authorization names.
  let host: String

  /// The first message of a connection.
  ///
  /// Servers read credentials in different places: Hasura and most others in `headers`, some in a
  /// member of the payload itself, AppSync in the handshake.
  func initialise(_ headers: CallHeaders) -> [UInt8] {
    message("connection_init") { writer in
      guard dialect != .appSync, !headers.all.isEmpty else { return }
      writer.name("payload")
      writer.beginObject()
      writer.name("headers")
      writer.beginObject()
      for (name, value) in Self.joined(headers) {
        writer.name(name)
        writer.string(value)
      }
      writer.endObject()
      if vendor == .plain, let own = Self.joined(headers).first(where: { $0.0 == "authorization" })
      {
        writer.name("Authorization")
        writer.string(own.1)
      }
      writer.endObject()
    }
  }

  func start(_ id: String, _ request: SubscriptionRequest, _ headers: CallHeaders) -> [UInt8] {
    message(dialect == .transportWS ? "subscribe" : "start", id: id) { writer in
      writer.name("payload")
      guard dialect == .appSync else { return writer.raw(request.payload) }
      writer.beginObject()
      writer.name("data")
      writer.string(request.appSyncData)
      writer.name("extensions")
      writer.value([
        "authorization": AppSyncAuthorization(host: host, headers: headers).object
      ])
      writer.endObject()
    }
  }

  func stop(_ id: String) -> [UInt8] {
    message(dialect == .transportWS ? "complete" : "stop", id: id) { _ in }
  }

  static let ping = Array(#"{"type":"ping"}"#.utf8)
  static let pong = Array(#"{"type":"pong"}"#.utf8)

  private func message(
    _ type: String, id: String? = nil, _ rest: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    if let id {
      writer.name("id")
      writer.string(id)
    }
    writer.name("type")
    writer.string(type)
    rest(&writer)
    writer.endObject()
    return writer.bytes
  }

  /// The headers by lower-case name; values of one name are joined, since a JSON object has no repeated
  /// names.
  private static func joined(_ headers: CallHeaders) -> [(String, String)] {
    var joined: [(String, String)] = []
    for header in headers.all {
      let name = header.name.lowercased()
      if let place = joined.firstIndex(where: { $0.0 == name }) {
        joined[place].1 += ", \(header.value)"
      } else {
        joined.append((name, header.value))
      }
    }
    return joined
  }
}
