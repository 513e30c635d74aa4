import Filtering
import GRDB
package import Model

/// The move of `now()` in the conditions of a ``ChangeQuery``, from the time at which the reader's entities
/// were judged to a later one: entities enter and leave the conditions without a change.
///
/// They are reported once the log has been read to its end, in the order of the names of their types and of
/// their keys. A page can end among them; then those up to its end are judged at the later time from there
/// on, and the others still at the earlier one.
package struct ClockStep: Sendable {
  /// The query's conditions at the later time, by type.
  package let conditions: [String: ObservedCondition]
  /// The last entity that the reader has at the later time; nil if it has none.
  package let after: EntityKey?

  package init(conditions: [String: ObservedCondition], after: EntityKey? = nil) {
    self.conditions = conditions
    self.after = after
  }

  /// How far a page took the step.
  package enum Progress: Hashable, Sendable {
    case done
    /// Entities up to this one are judged at the later time; nil for none.
    case upTo(EntityKey?)
  }

  /// Whether the reader has an entity as it is at the later time.
  func includes(type: String, key: ExactText) -> Bool {
    guard let after else { return false }
    if !type.equalsExactly(after.type) { return type.precedesExactly(after.type) }
    return !after.key.precedesExactly(key.text)
  }
}

/// The entities that enter or leave the conditions of a query by a ``ClockStep``, in the state at the head.
struct ClockSweep {
  struct Found {
    var entries: [ChangePage.Entry] = []
    var progress = ClockStep.Progress.done
  }

  /// Entities evaluated at a time.
  private static let stretch = 256
  /// Limit of the entities that are evaluated for one page: not all whose times lie in the step enter or
  /// leave.
  private static let entitiesMax = 10_000

  let step: ClockStep
  let query: ChangeQuery
  let scopes: ViewerScopes
  let catalogue: TypeCatalogue
  let touches: TouchLedger
  let head: Int64
  let database: Database

  /// - Parameters:
  ///   - limit: of the entries.
  ///   - bytes: those that the page has already.
  func entries(limit: Int, bytes: Int) throws -> Found {
    var found = Found(progress: .upTo(step.after))
    var seen = 0
    var bytes = bytes
    // As of the log's rounds: more and more while none has an entry.
    var size = 0
    for name in step.conditions.keys.sorted(by: { $0.precedesExactly($1) }) {
      guard let start = start(in: name), let sides = Sides(self, type: name) else { continue }
      func isFull() -> Bool {
        found.entries.count >= limit || seen >= Self.entitiesMax || bytes >= query.bytesMax
      }
      if isFull() { return found }
      // All candidates at once: without an index each query goes through the whole type.
      var rest = try sides.keys(after: start, limit: Self.entitiesMax - seen)[...]
      while !rest.isEmpty {
        if isFull() { return found }
        let room = min(Self.stretch, limit - found.entries.count)
        let count = max(room, size)
        var stretch = rest.prefix(count)
        var entries = try sides.entries(of: Array(stretch))[...]
        if entries.count > room, let end = entries.dropFirst(room - 1).first?.key.key {
          entries = entries.prefix(room)
          stretch = stretch.prefix { !$0.equalsExactly(end) } + [end]
        }
        size = entries.isEmpty ? min(Self.stretch, count * 2) : 0
        for entry in entries {
          if case .present(let record, _) = entry.state {
            bytes += record.layers.reduce(0) { $0 + $1.count }
          }
          found.entries.append(entry)
        }
        seen += stretch.count
        rest = rest.dropFirst(stretch.count)
        if let last = stretch.last {
          found.progress = .upTo(EntityKey(type: name, key: last))
        }
      }
    }
    found.progress = .done
    return found
  }

  /// Returns the key after which the entities of a type are to be judged; nil if all of them were.
  private func start(in type: String) -> String? {
    guard let after = step.after else { return "" }
    if type.equalsExactly(after.type) { return after.key }
    return type.precedesExactly(after.type) ? nil : ""
  }
}

extension ClockSweep {
  /// The conditions of a type at both times.
  struct Sides {
    let sweep: ClockSweep
    let table: EntityTable
    let earlier: ObservedCondition
    let later: ObservedCondition
    /// The condition of the entities that can be in one of the two alone.
    let between: FilterCondition

    /// Nil if no entity of the type can enter or leave its condition.
    init?(_ sweep: ClockSweep, type: String) {
      guard let table = sweep.catalogue[type], !sweep.scopes.isEmpty,
        let earlier = sweep.query.conditions[type], let later = sweep.step.conditions[type],
        let between = later.filter.condition.difference(from: earlier.filter.condition)
      else { return nil }
      self.sweep = sweep
      self.table = table
      self.earlier = earlier
      self.later = later
      self.between = between
    }

    /// Returns the next keys in their order, and one more than `limit` if there are more.
    func keys(after key: String, limit: Int) throws -> [String] {
      try run(after: key, limit: limit).places().map(\.key)
    }

    func run(after key: String, limit: Int) throws -> EntityQueryRun {
      let asked = EntityQuery(
        type: later.type, filter: Filter(condition: between), limit: limit,
        after: key.isEmpty ? nil : EntityPosition(values: [], key: key))
      return try EntityQueryRun(
        asked, table, scopes: sweep.scopes, isSelective: true, sweep.catalogue, sweep.touches,
        sweep.database)
    }

    func entries(of keys: [String]) throws -> [ChangePage.Entry] {
      let (scopes, catalogue, database) = (sweep.scopes, sweep.catalogue, sweep.database)
      let states = try ViewLoader(database, catalogue, scopes: scopes)
        .views(ofKeys: keys.map { ExactText($0) }, in: table).mapValues(\.contents)
      func passing(_ condition: ObservedCondition) throws -> Set<ExactText> {
        try ObservedStates(condition, table, scopes: scopes, catalogue, database).passing(states)
      }
      let (before, now) = (try passing(earlier), try passing(later))
      return keys.compactMap { key in
        let text = ExactText(key)
        let state: ChangePage.VisibleState
        switch (before.contains(text), now.contains(text)) {
        case (true, false): state = .gone(.hidden)
        case (false, true):
          state = .present(EntityRecord(layers: states[text] ?? []), isNew: true)
        case (true, true), (false, false): return nil
        }
        return ChangePage.Entry(
          key: EntityKey(type: table.type, key: key), revision: Revision(sweep.head),
          state: state)
      }
    }
  }
}
