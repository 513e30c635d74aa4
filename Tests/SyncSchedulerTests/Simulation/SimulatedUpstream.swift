import Model

/// The model of upstream: films with ids that it assigns, foreign keys that reject, and optionally
/// idempotency keys.
struct SimulatedUpstream {
  struct Body: Hashable {
    var operation: String
    var effect: MutationEffect
    var object: String
    var link: String?
    var value: Int
  }

  enum Answer: Hashable {
    case done(film: String)
    case refused
  }

  let recognisesKeys: Bool
  private(set) var films: Set<String> = ["1", "2"]
  private var answers: [MutationID: Answer] = [:]
  private var nextFilm = 100
  /// The requests of each key, in order.
  private(set) var received: [MutationID: [Body]] = [:]
  /// How often each took effect.
  private(set) var effects: [MutationID: Int] = [:]
  private(set) var made: [MutationID: [String]] = [:]

  init(recognisesKeys: Bool) {
    self.recognisesKeys = recognisesKeys
  }

  mutating func receive(_ body: Body, key: MutationID) -> Answer {
    received[key, default: []].append(body)
    if recognisesKeys, let answer = answers[key] { return answer }
    let answer = execute(body, key: key)
    answers[key] = answer
    return answer
  }

  /// The result of the verify query: whether the mutation of this key took effect, and on which film.
  func verify(_ key: MutationID) -> Answer? {
    guard effects[key] != nil else { return nil }
    return answers[key]
  }

  private mutating func execute(_ body: Body, key: MutationID) -> Answer {
    if let link = body.link, !films.contains(link) { return .refused }
    if body.value % 13 == 0 { return .refused }
    switch body.effect {
    case .create:
      nextFilm += 1
      films.insert(String(nextFilm))
      made[key, default: []].append(String(nextFilm))
      effects[key, default: 0] += 1
      return .done(film: String(nextFilm))
    case .update, .delete:
      guard films.contains(body.object) else { return .refused }
      if body.effect == .delete { films.remove(body.object) }
      effects[key, default: 0] += 1
      return .done(film: body.object)
    }
  }
}
