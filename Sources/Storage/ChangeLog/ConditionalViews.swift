import GRDB
import Model

/// A section of the log for an observer with a condition: an entity that enters the condition is
/// new to it, and one that leaves it is gone.
///
/// Compares with the state the reader saw last: that at the reading's origin, or at the end of the
/// last page.
struct ConditionalViews {
  private let database: Database
  private let test: ConditionTest
  private let history: EntityHistoryLoader
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
    history = EntityHistoryLoader(database: database, type: table.id, scopes: scopes)
  }

  /// Returns the states to report by key; entities that are absent are not reported.
  func states(of entities: [ExactText: LayeredView]) throws -> [ExactText: ChangePage.VisibleState]
  {
    let isIn = try passing(entities.mapValues(\.contents))
    let answers = try earlierRevisions.map { try wasIn(entities, at: $0) }
    var states: [ExactText: ChangePage.VisibleState] = [:]
    for (key, layers) in entities {
      let earlier = answers.map { $0[key] ?? .no }
      if isIn.contains(key) {
        states[key] = .present(
          EntityRecord(layers: layers.contents),
          isNew: earlier.isEmpty || earlier.contains { $0 != .yes })
      } else if isSnapshot ? hasChangedSinceStart(layers) : earlier.contains(where: { $0 != .no }) {
        states[key] = layers.contents.isEmpty ? layers.reasonGone.map { .gone($0) } : .gone(.hidden)
      }
    }
    return states
  }

  /// The revisions at which the reader can have seen a state; none for a snapshot. Of the revision
  /// in which the last page ended, a part has been reported.
  private var earlierRevisions: [Int64] {
    guard case .delta(let base) = origin else { return [] }
    let last = position.revision.value
    let revisions = position.place.isEmpty ? [base.value, last] : [base.value, last - 1, last]
    return Array(Set(revisions))
  }

  private var isSnapshot: Bool { earlierRevisions.isEmpty }

  /// An earlier page of the snapshot can have reported it as it was then.
  private func hasChangedSinceStart(_ layers: LayeredView) -> Bool {
    guard case .snapshot(let start) = origin else { return false }
    return (layers.revision ?? 0) > start.value
  }

  private enum Answer {
    case yes, no
    /// It existed, and its state is not known any more.
    case unknown
  }

  private func wasIn(
    _ entities: [ExactText: LayeredView], at revision: Int64
  ) throws -> [ExactText: Answer] {
    let states = try history.states(of: entities.keys.map(\.text), at: revision)
    var answers: [ExactText: Answer] = [:]
    var known: [ExactText: [[UInt8]]] = [:]
    for (key, layers) in entities {
      switch layers.state(at: revision, history: { states[key]?[$0] ?? .unchanged }) {
      case .absent: answers[key] = .no
      case .unknown: answers[key] = .unknown
      case .fields(let fields): known[key] = fields
      }
    }
    let passing = try passing(known)
    for key in known.keys { answers[key] = passing.contains(key) ? .yes : .no }
    return answers
  }

  /// Returns the keys of the states that meet the condition.
  ///
  /// - Parameter states: layers by key; those without any do not meet it.
  private func passing(_ states: [ExactText: [[UInt8]]]) throws -> Set<ExactText> {
    let filled = states.filter { !$0.value.isEmpty }
    let keys = Array(filled.keys)
    let places = try test.passing(keys.map { filled[$0] ?? [] }, database)
    return Set(places.map { keys[$0] })
  }
}
