/// The protocols in which subscriptions are spoken.
enum SubscriptionDialect: Hashable, Sendable, CaseIterable {
  /// `graphql-transport-ws`, the protocol of the library graphql-ws.
  case transportWS
  /// `graphql-ws`, the protocol of subscriptions-transport-ws.
  case legacyWS
  /// AppSync's real-time protocol, which uses the name `graphql-ws` too.
  case appSync
  /// GraphQL over SSE, distinct connections: a request for each subscription.
  case eventStream

  /// The subprotocol's name; nil for an event stream.
  var subprotocol: String? {
    switch self {
    case .transportWS: "graphql-transport-ws"
    case .legacyWS, .appSync: "graphql-ws"
    case .eventStream: nil
    }
  }

  /// The dialects that a configuration offers, the preferred one first.
  static func offered(_ settings: UpstreamConfiguration) -> [SubscriptionDialect] {
    switch (settings.dialect, settings.subscriptions) {
    case (_, .off): []
    case (.appsync, _): [.appSync]
    case (_, .automatic): [.transportWS, .legacyWS]
    case (_, .transportWS): [.transportWS]
    case (_, .legacyWS): [.legacyWS]
    case (_, .eventStream): [.eventStream]
    }
  }
}

/// What follows when a connection ends.
enum ConnectionEnd: Equatable, Sendable {
  /// The same can succeed later.
  case temporary
  /// The credential is refused.
  case refused
  /// The same would fail again.
  case final
}

extension SubscriptionDialect {
  /// Reads a close code.
  ///
  /// Codes that blame the server's own state (1011, 4500) are temporary, unlike in the reference
  /// client, which gives up: a subscription here can have thousands of readers.
  func end(code: UInt16, wasAcknowledged: Bool) -> ConnectionEnd {
    switch code {
    case 4401, 4403, 1008: .refused
    // Neither is said of a connection that has worked; 1002 is also what a broken frame ends with.
    case 1002, 1003, 1010: wasAcknowledged ? .temporary : .final
    case 4400, 4406, 4409, 4429, 4004, 4005: .final
    default: .temporary
    }
  }
}
