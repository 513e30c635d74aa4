import LosslessJSON
import Model

/// The model of the upstream: films with ids of its own, foreign keys that refuse, and optionally a
/// memory of the idempotency keys it has seen.
struct SimulatedUpstream {
  enum Response: Hashable {
    /// The whole film after the change; nil fields if it was deleted.
    case done(film: String, fields: JSONValue?)
    case refused
  }

  let recognisesKeys: Bool
  private(set) var films: [String: JSONValue] = [
    "1": ["title": "One", "rating": 1], "2": ["title": "Two", "rating": 2],
  ]
  private var responses: [MutationID: Response] = [:]
  private var nextFilm = 100
  /// The bodies received under each key.
  private(set) var received: [MutationID: Set<String>] = [:]
  /// How often each mutation took effect.
  private(set) var effects: [MutationID: Int] = [:]

  init(recognisesKeys: Bool) {
    self.recognisesKeys = recognisesKeys
  }

  mutating func receive(_ body: JSONValue, key: MutationID) -> Response {
    received[key, default: []].insert(body.canonicalText)
    if recognisesKeys, let response = responses[key] { return response }
    let response = execute(body)
    if response != .refused { effects[key, default: 0] += 1 }
    responses[key] = response
    return response
  }

  /// Returns what the verify query finds for the mutation of this key; nil if it had no effect.
  func verify(_ key: MutationID) -> Response? {
    effects[key] == nil ? nil : responses[key]
  }

  private mutating func execute(_ body: JSONValue) -> Response {
    if let link = body["link"]?.string, films[link] == nil { return .refused }
    if let value = body["value"]?.int64, value.isMultiple(of: 13) { return .refused }
    guard let film = body["id"]?.string else {
      nextFilm += 1
      return put(SimulatedChange.fields(body), into: String(nextFilm), [:])
    }
    guard let stored = films[film] else { return .refused }
    if body["effect"] == "delete" {
      films[film] = nil
      return .done(film: film, fields: nil)
    }
    return put(SimulatedChange.fields(body), into: film, stored)
  }

  private mutating func put(
    _ fields: JSONValue, into film: String, _ stored: JSONValue
  ) -> Response {
    var all = stored
    for member in fields.members ?? [] { all[member.name] = member.value }
    films[film] = all
    return .done(film: film, fields: all)
  }
}
