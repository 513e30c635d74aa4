/// What a call of the library fails with, unless its task was cancelled.
public enum LarderError: Error, Hashable, Sendable {
  /// No connection, no response, or one that was cut off. `wasSent` is false if nothing can have reached
  /// Larder.
  case offline(String, wasSent: Bool)
  /// Status 429, 502, 503 or 504: try again later, at the earliest after so many seconds.
  case unavailable(Problem, retryAfter: Int?)
  /// Another status that is an error, or an error of your API in the response to a typed call.
  case refused(Problem)
  /// No profile is active, or its user has to sign in again.
  case signedOut
  /// The store cannot be written: nothing was changed, and nothing was sent.
  case storageFull
  /// The store cannot be opened or read.
  case storage(String)
  /// The file of the store, or the credentials, are damaged: ``Larder/Larder/reset(store:credentials:)`` sets
  /// them aside.
  case storeDamaged(String)
  /// The outbox has no item with this key.
  case unknownKey(String)
  /// Only a parked item can be tried again.
  case notParked(String)
  /// The device that an item was sent from is gone, so its outcome is not known.
  case deviceLost
  /// An argument that cannot be right.
  case invalidArgument(String)
  /// A response or an entity that is not what the calling type needs.
  case unexpectedContent(String)

  /// A stable name; of a refusal, the code of Larder's problem.
  public var code: String {
    switch self {
    case .offline: "offline"
    case .unavailable: "unavailable"
    case .refused(let problem): problem.code
    case .signedOut: "signed_out"
    case .storageFull: "storage_full"
    case .storage: "storage_failed"
    case .storeDamaged: "store_damaged"
    case .unknownKey: "unknown_key"
    case .notParked: "not_parked"
    case .deviceLost: "device_lost"
    case .invalidArgument: "invalid_argument"
    case .unexpectedContent: "unexpected_content"
    }
  }
}

extension LarderError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .offline(let detail, _): "Larder cannot be reached: \(detail)"
    case .unavailable(let problem, _), .refused(let problem): problem.explanation
    case .signedOut:
      "The phone has no active profile, or its user must sign in again. Call register or signIn first."
    case .storageFull: "The store cannot be written. Free some space, then try again."
    case .storage(let detail): "The store failed: \(detail)"
    case .storeDamaged(let detail): "The store is damaged: \(detail). Larder.reset sets it aside."
    case .unknownKey(let key): "No item of the outbox has the key \(key)."
    case .notParked(let key): "The item \(key) is not parked."
    case .deviceLost: "The device that sent this item is gone: its outcome is not known."
    case .invalidArgument(let detail), .unexpectedContent(let detail): detail
    }
  }
}

/// A problem of RFC 9457 as Larder sends it.
public struct Problem: Hashable, Sendable {
  /// The response's status.
  public let status: Int
  /// `http_404` for a status without a problem.
  public let code: String
  /// A sentence for developers. Show your own text to users.
  public let detail: String
  /// The whole problem; null if the response had none.
  public let json: JSONValue

  /// Statuses that are about the caller or the moment, not about what was sent.
  private static let aboutTheMoment: Set<Int> = [401, 408, 425, 429]

  /// Whether the same content would be refused again: `retry` of the problem does not ask for it.
  var isAboutContent: Bool {
    (400..<500).contains(status) && !Self.aboutTheMoment.contains(status)
      && (json["retry"] == "never" || json["retry"] == "new-key")
  }

  /// The detail and the faults, with their places.
  var explanation: String {
    let faults = (json["errors"]?.array ?? []).compactMap { fault -> String? in
      guard let text = fault["detail"]?.string ?? fault["message"]?.string else { return nil }
      let place = fault["pointer"]?.string ?? fault["parameter"]?.string
      if place == nil, text == detail { return nil }
      return place.map { "\($0): \(text)" } ?? text
    }
    return ([detail] + faults.prefix(Self.faultsMax)).joined(separator: "\n")
  }

  /// Faults in a description.
  private static let faultsMax = 5

  init(status: Int, body: JSONValue?) {
    self.status = status
    json = body ?? .null
    code = json["code"]?.string ?? "http_\(status)"
    detail = json["detail"]?.string ?? json["title"]?.string ?? "Larder responded with \(status)."
  }

  /// The errors of your API in a GraphQL response; nil if there are none. Its code is the first error's, or
  /// `upstream_rejected`.
  init?(graphQL response: JSONValue) {
    guard let errors = response["errors"]?.array, let first = errors.first else { return nil }
    self.init(
      status: 200,
      body: [
        "code": first["extensions"]?["code"] ?? "upstream_rejected",
        "detail": first["message"] ?? "The API responded with an error.",
        "errors": .array(errors), "retry": "never",
      ])
  }
}
