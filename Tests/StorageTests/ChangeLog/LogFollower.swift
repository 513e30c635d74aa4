import LosslessJSON
import Model
import Testing

@testable import Storage

/// A client of the change log: reads pages and builds its own copy of all entities.
struct LogFollower {
  let viewer: Viewer
  var position = LogPosition.start
  var origin: LogOrigin?
  private(set) var held: [EntityKey: String] = [:]
  /// The entries of the last page, in order.
  private(set) var reported: [String] = []
  /// Entities reported as known that this client did not have.
  private(set) var surprises: [EntityKey] = []
  /// The conditions by type.
  let conditions: [String: ObservedCondition]

  init(_ viewer: Viewer = .anonymous, conditions: [String: ObservedCondition] = [:]) {
    self.viewer = viewer
    self.conditions = conditions
  }

  /// Begins at the head instead of with a snapshot.
  static func atHead(
    of store: Store, _ viewer: Viewer = .anonymous, conditions: [String: ObservedCondition] = [:]
  ) -> LogFollower {
    var follower = LogFollower(viewer, conditions: conditions)
    follower.position = LogPosition(revision: store.head)
    follower.origin = .delta(base: store.head)
    return follower
  }

  /// Reads one page; returns nil if the log cannot be continued.
  @discardableResult
  mutating func takePage(
    from store: Store, limit: Int = 1000, types: Set<String>? = nil
  ) async throws -> ChangePage? {
    let query = ChangeQuery(
      viewer: viewer, position: position, origin: origin,
      types: types ?? (conditions.isEmpty ? nil : Set(conditions.keys)), conditions: conditions,
      limit: limit)
    guard let page = try await store.changes(query) else { return nil }
    reported = []
    for entry in page.entries {
      switch entry.state {
      case .present(let record, let isNew):
        if !isNew, held[entry.key] == nil { surprises.append(entry.key) }
        held[entry.key] = try Self.united(record)
        reported.append("\(isNew ? "new" : "put") \(entry.key)")
      case .gone(let reason):
        held[entry.key] = nil
        reported.append("\(reason.rawValue) \(entry.key)")
      }
    }
    position = page.next
    origin = page.origin
    return page
  }

  /// The fields that the viewer sees, in a canonical text.
  static func united(_ record: EntityRecord) throws -> String {
    var united: [String: String] = [:]
    for layer in record.layers.reversed() {
      for member in try JSONValue(parsing: layer).members ?? [] {
        united[member.name] = member.value.canonicalText
      }
    }
    return united.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }
}
