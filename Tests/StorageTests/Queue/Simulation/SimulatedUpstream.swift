import LosslessJSON
import Model

/// The model of what stands behind the service: films with ids of its own making, foreign keys that
/// refuse, and, or not, a memory of the idempotency keys it has seen.
struct SimulatedUpstream {
  enum Answer: Hashable {
    /// The film whole as it is then; nil fields where it went.
    case done(film: String, fields: JSONValue?)
    case refused
  }

  let recognisesKeys: Bool
  private(set) var films: [String: JSONValue] = [
    "1": ["title": "One", "rating": 1], "2": ["title": "Two", "rating": 2],
  ]
  private var answers: [MutationID: Answer] = [:]
  private var nextFilm = 100
  /// What came under each key.
  private(set) var received: [MutationID: Set<String>] = [:]
  /// How often each took effect.
  private(set) var effects: [MutationID: Int] = [:]

  init(recognisesKeys: Bool) {
    self.recognisesKeys = recognisesKeys
  }

  mutating func receive(_ body: JSONValue, key: MutationID) -> Answer {
    received[key, default: []].insert(body.canonicalText)
    if recognisesKeys, let answer = answers[key] { return answer }
    let answer = execute(body)
    if answer != .refused { effects[key, default: 0] += 1 }
    answers[key] = answer
    return answer
  }

  /// What the verify query finds of the mutation of this key; nil where it had no effect.
  func verify(_ key: MutationID) -> Answer? {
    effects[key] == nil ? nil : answers[key]
  }

  private mutating func execute(_ body: JSONValue) -> Answer {
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
  ) -> Answer {
    var all = stored
    for member in fields.members ?? [] { all[member.name] = member.value }
    films[film] = all
    return .done(film: film, fields: all)
  }
}
