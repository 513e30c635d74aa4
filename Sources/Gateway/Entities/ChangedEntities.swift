import Filtering
import Model
import Synchronization

/// Entities that the last commit changed, each read once for all lists of the same viewer.
///
/// What was read at one moment is good until the next commit: a list whose change is read later finds the
/// present state or nothing. Synchronisation: the mutex guards the state.
final class ChangedEntities: Sendable {
  /// Beyond so many bytes, everything that is known is forgotten.
  private static let bytesMax = 4 << 20

  /// A time between two commits.
  struct Moment: Hashable, Sendable {
    /// Commits that were noted.
    var commitCount: UInt64 = 0
    /// The store's head: a commit is published before it is noted.
    var head = Revision(0)
  }

  /// An entity with the values of all its columns.
  struct Found: Sendable {
    let item: EntityPage.Item
    /// In the order of the type's columns.
    let values: [FilterValue]
  }

  private struct Place: Hashable {
    let viewer: Viewer
    let type: String
  }

  private struct State {
    var commitCount: UInt64 = 0
    /// When all that is known was read.
    var moment = Moment()
    /// By key; nil for an entity that does not exist for the viewer.
    var places: [Place: [EntityKey: Found?]] = [:]
    var byteCount = 0
  }

  private let state = Mutex(State())

  /// Returns the present moment.
  ///
  /// - Parameter head: one noted before the call.
  func moment(at head: Revision) -> Moment {
    Moment(commitCount: state.withLock { $0.commitCount }, head: head)
  }

  /// Notes a commit, before the lists that it touched are noted.
  func noteCommit() {
    state.withLock { state in
      state.commitCount &+= 1
      if state.byteCount > 0 { Self.forget(&state) }
    }
  }

  /// Returns what is known of entities at a moment, by key; unknown ones are missing.
  func known(
    _ keys: [EntityKey], of type: String, seenBy viewer: Viewer, at moment: Moment
  ) -> [EntityKey: Found?] {
    state.withLock { state in
      guard state.moment == moment, let known = state.places[Place(viewer: viewer, type: type)]
      else { return [:] }
      var found: [EntityKey: Found?] = [:]
      for key in keys { if let entity = known[key] { found.updateValue(entity, forKey: key) } }
      return found
    }
  }

  /// - Parameter moment: one noted before the read began.
  func keep(
    _ found: [EntityKey: Found?], of type: String, seenBy viewer: Viewer, at moment: Moment
  ) {
    state.withLock { state in
      guard state.commitCount == moment.commitCount else { return }
      if state.moment != moment || state.byteCount > Self.bytesMax { Self.forget(&state) }
      state.moment = moment
      for (key, entity) in found {
        state.places[Place(viewer: viewer, type: type), default: [:]].updateValue(
          entity, forKey: key)
        state.byteCount += 256 + (entity?.item.record.layers.reduce(0) { $0 + $1.count } ?? 0)
      }
    }
  }

  private static func forget(_ state: inout State) {
    state.places = [:]
    state.byteCount = 0
  }
}

/// Reads of changed entities for a list.
extension EntityReader {
  /// The number of columns beyond which the entities of a type are read for each list by itself.
  private static let sharedColumnsMax = 64

  /// Returns those changed entities that a list has on whatever page, with their positions in its order.
  ///
  /// The entities are read once for all lists of the viewer, and the list's filter is judged here as far
  /// as that is certain.
  ///
  /// - Parameters:
  ///   - query: the list's.
  ///   - keys: of the query's type.
  ///   - changed: what is shared by all lists.
  ///   - moment: noted before the call.
  func matches(
    _ query: EntityQuery, _ keys: [EntityKey], _ changed: ChangedEntities,
    at moment: ChangedEntities.Moment, _ caller: Caller
  ) async throws(Failure) -> [EntityPage.Item] {
    guard !keys.isEmpty else { return [] }
    let columns = query.type.columns.map(\.name)
    guard columns.count <= Self.sharedColumnsMax else {
      return try await asked(query, keys, caller)
    }
    var items: [EntityPage.Item] = []
    let places = Dictionary(
      columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let known = try await entities(
      keys, of: query.type, changed, at: moment, caller)
    for key in keys {
      guard let entry = known[key], let found = entry else { continue }
      func value(_ column: String) -> FilterValue? {
        places[column].flatMap { $0 < found.values.count ? found.values[$0] : nil }
      }
      switch query.filter?.verdict(value) ?? .met {
      case .unmet: continue
      case .unknown: return try await asked(query, keys, caller)
      case .met:
        // The order of such a list is by its own columns: key paths are no names of columns.
        let values = query.order.terms.compactMap { value($0.column) }
        guard values.count == query.order.terms.count else {
          return try await asked(query, keys, caller)
        }
        items.append(
          EntityPage.Item(
            key: key, record: found.item.record,
            position: EntityPosition(values: values, key: key.key)))
      }
    }
    return items
  }

  /// Asks the database with the list's own filter.
  private func asked(
    _ query: EntityQuery, _ keys: [EntityKey], _ caller: Caller
  ) async throws(Failure) -> [EntityPage.Item] {
    var asked = query
    asked.members = keys.map(\.key)
    asked.limit = keys.count
    asked.after = nil
    asked.wantsTotal = false
    asked.section = nil
    return try await page(asked, caller).items
  }

  private func entities(
    _ keys: [EntityKey], of type: EntityType, _ changed: ChangedEntities,
    at moment: ChangedEntities.Moment, _ caller: Caller
  ) async throws(Failure) -> [EntityKey: ChangedEntities.Found?] {
    var all = changed.known(keys, of: type.name, seenBy: caller.viewer, at: moment)
    let missing = keys.filter { all[$0] == nil }
    guard !missing.isEmpty else { return all }
    let order = EntityOrder(
      type.columns.map { EntityOrder.Term(column: EntityPath(field: $0.name)) })
    let page = try await page(
      EntityQuery(
        type: type, order: order, members: missing.map(\.key), limit: missing.count), caller)
    var read: [EntityKey: ChangedEntities.Found?] = [:]
    for key in missing { read.updateValue(nil, forKey: key) }
    for item in page.items {
      // Without columns the position is the place among the members.
      let values = order.terms.isEmpty ? [] : item.position.values
      read.updateValue(ChangedEntities.Found(item: item, values: values), forKey: item.key)
    }
    changed.keep(read, of: type.name, seenBy: caller.viewer, at: moment)
    for (key, entity) in read { all.updateValue(entity, forKey: key) }
    return all
  }
}
