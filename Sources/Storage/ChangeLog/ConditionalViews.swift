import GRDB
import Model

/// What an observer with a condition sees of a stretch of entities: what comes into the condition is
/// new to it, and what leaves is gone.
///
/// It goes by what the reader was told last of an entity: what it was where the reading set out, or
/// where the last page ended.
struct ConditionalViews {
  private let database: Database
  private let test: ConditionTest
  private let past: EntityHistoryLoader
  private let origin: LogOrigin
  private let position: LogPosition

  init(
    _ condition: ObservedCondition, _ table: EntityTable, scopes: [Int64], origin: LogOrigin,
    position: LogPosition, _ database: Database
  ) {
    self.database = database
    self.origin = origin
    self.position = position
    test = ConditionTest(condition)
    past = EntityHistoryLoader(database: database, type: table.id, scopes: scopes)
  }

  /// By key; what is absent is not told of.
  func sights(of entities: [ExactText: LayeredView]) throws -> [ExactText: ChangePage.VisibleState]
  {
    let isIn = try passing(entities.mapValues(\.contents))
    let answers = try earlierRevisions.map { try wasIn(entities, at: $0) }
    var sights: [ExactText: ChangePage.VisibleState] = [:]
    for (key, layers) in entities {
      let earlier = answers.map { $0[key] ?? .no }
      if isIn.contains(key) {
        sights[key] = .present(
          EntityRecord(layers: layers.contents),
          isNew: earlier.isEmpty || earlier.contains { $0 != .yes })
      } else if isSnapshot ? hasChangedSinceStart(layers) : earlier.contains(where: { $0 != .no }) {
        sights[key] = layers.contents.isEmpty ? layers.reasonGone.map { .gone($0) } : .gone(.hidden)
      }
    }
    return sights
  }

  /// Where the reader may have been told something: of a snapshot nothing is known from before. Of
  /// the revision that the last page ended in, some has been told and some not.
  private var earlierRevisions: [Int64] {
    guard case .delta(let base) = origin else { return [] }
    let last = position.revision.value
    let revisions = position.place.isEmpty ? [base.value, last] : [base.value, last - 1, last]
    return Array(Set(revisions))
  }

  private var isSnapshot: Bool { earlierRevisions.isEmpty }

  /// An earlier page of the snapshot may have told of it as it was then.
  private func hasChangedSinceStart(_ layers: LayeredView) -> Bool {
    guard case .snapshot(let start) = origin else { return false }
    return (layers.revision ?? 0) > start.value
  }

  private enum Answer {
    case yes, no
    /// It was there, and what it was is not known any more.
    case unknown
  }

  private func wasIn(
    _ entities: [ExactText: LayeredView], at revision: Int64
  ) throws -> [ExactText: Answer] {
    let states = try past.states(of: entities.keys.map(\.text), at: revision)
    var answers: [ExactText: Answer] = [:]
    var known: [ExactText: [[UInt8]]] = [:]
    for (key, layers) in entities {
      switch layers.state(at: revision, past: { states[key]?[$0] ?? .unchanged }) {
      case .absent: answers[key] = .no
      case .unknown: answers[key] = .unknown
      case .fields(let fields): known[key] = fields
      }
    }
    let passing = try passing(known)
    for key in known.keys { answers[key] = passing.contains(key) ? .yes : .no }
    return answers
  }

  /// - Parameter states: layers by key; those without any are not in the condition.
  private func passing(_ states: [ExactText: [[UInt8]]]) throws -> Set<ExactText> {
    let filled = states.filter { !$0.value.isEmpty }
    let keys = Array(filled.keys)
    let places = try test.passing(keys.map { filled[$0] ?? [] }, database)
    return Set(places.map { keys[$0] })
  }
}
