/// How a mutation is sent by Larder (docs/sync.md). Forced mutations are not submitted but sent.
public enum SyncMode: String, Sendable {
  case lazy, steady
}

/// A change that the app sees until Larder, or the API behind it, shows it.
public struct OptimisticChange: Hashable, Sendable {
  /// What a change does.
  public enum Kind: String, Sendable {
    /// Sets fields of an entity that is there.
    case merge
    /// Makes an entity, or sets fields of the one that is there.
    case create
    case delete
  }

  public var kind: Kind
  public var type: String
  /// Can be a temporary id.
  public var id: String
  /// The members that are set.
  public var fields: [String: JSONValue]

  public init(_ kind: Kind, type: String, id: String, fields: [String: JSONValue] = [:]) {
    self.kind = kind
    self.type = type
    self.id = id
    self.fields = fields
  }

  /// From the form of a request's `optimistic`.
  public init(json: JSONValue) throws {
    guard let op = json["op"]?.string, let kind = Kind(rawValue: op),
      let type = json["type"]?.string, let id = json["id"]?.string
    else {
      throw LarderError.invalidArgument("An optimistic change needs \"op\", \"type\" and \"id\".")
    }
    self.init(kind, type: type, id: id, fields: json["fields"]?.object ?? [:])
  }

  var json: JSONValue {
    var members: [String: JSONValue] = [
      "op": .string(kind.rawValue), "type": .string(type), "id": .string(id),
    ]
    if kind != .delete { members["fields"] = .object(fields) }
    return .object(members)
  }
}

/// What the outbox holds without an outcome.
public struct OutboxItem: Hashable, Sendable, Identifiable {
  /// How far an item is.
  public enum State: String, Sendable {
    /// Larder has not responded to it yet.
    case waiting
    /// Larder has it.
    case enqueued
    /// Larder needs a decision: `retry` or `discard`.
    case parked
    /// The app has discarded it, but Larder may have it and did not respond yet: it is sent after all others,
    /// and withdrawn then.
    case withdrawn
  }

  /// Its `Idempotency-Key`.
  public let key: String
  /// The mutation's name, or `$write` for writes to local types.
  public let operation: String
  public let state: State
  /// Larder's words about the state.
  public let reason: String?

  public var id: String { key }
}

/// The end of an item.
public struct Outcome: Hashable, Sendable {
  public let key: String
  public let operation: String
  /// Larder's state (docs/sync.md), `refused`, `discarded`, or `unknown` where the device was lost.
  public let state: String
  public let reason: String?
  /// The problem, if there is one.
  public let problem: JSONValue?
  /// The response of your API, if Larder reports it.
  public let response: JSONValue?
}

/// The response to a forced mutation.
public struct ForcedResponse: Hashable, Sendable {
  public let key: String
  public let response: JSONValue
}
