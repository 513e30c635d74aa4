import Model

/// Which entities were shown by answers that an older call may still contradict.
///
/// An absence that arrives late must be judged together with presences that arrived before it, and
/// those were not worth a note of their own: nearly all entities are never absent. So the answers'
/// own lists of entities are held on to, shared and not copied, and searched if an absence comes.
struct PresenceHistory {
  private struct Answer {
    let call: Int64
    let scope: Int64
    let entities: [NormalisedResponse.Entity]
  }

  /// Entities in the lists held on to, some 20 MiB. Past this the history starts over, and absences
  /// of calls it no longer covers are not counted: a deletion is then seen late, never wrongly.
  static let entitiesMax = 100_000

  private var answers: [Answer] = []
  private var entityCount = 0
  private var lastForgotten: Int64 = 0

  mutating func note(_ entities: [NormalisedResponse.Entity], scope: Int64, call: Int64) {
    guard !entities.isEmpty else { return }
    if entityCount + entities.count > Self.entitiesMax { forget() }
    answers.append(Answer(call: call, scope: scope, entities: entities))
    entityCount += entities.count
  }

  private mutating func forget() {
    lastForgotten = answers.reduce(lastForgotten) { max($0, $1.call) }
    answers = []
    entityCount = 0
  }

  /// Forgets what no absence can be older than.
  mutating func prune(horizon: Int64) {
    guard answers.contains(where: { $0.call <= horizon }) else { return }
    answers.removeAll { $0.call <= horizon }
    entityCount = answers.reduce(0) { $0 + $1.entities.count }
  }

  /// Whether every presence after a call is still known.
  func isComplete(since call: Int64) -> Bool { call > lastForgotten }

  func calls(showing key: EntityKey, scope: Int64) -> [Int64] {
    answers.filter { answer in
      answer.scope == scope && answer.entities.contains { $0.key == key }
    }.map(\.call)
  }
}
