import LosslessJSON
import Model
import Testing

@testable import Storage

/// A client of the change log: pages in, its own copy of everything out.
struct LogFollower {
  let viewer: Viewer
  var position = LogPosition.start
  var origin: LogOrigin?
  private(set) var held: [EntityKey: String] = [:]
  /// Entities told as new or not new in the last page.
  private(set) var told: [String] = []
  /// Entities told as known that this client did not have.
  private(set) var surprises: [EntityKey] = []
  /// By type.
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

  /// Takes one page; nil where the log cannot be continued.
  @discardableResult
  mutating func takePage(
    from store: Store, limit: Int = 1000, types: Set<String>? = nil
  ) async throws -> ChangePage? {
    let query = ChangeQuery(
      viewer: viewer, position: position, origin: origin,
      types: types ?? (conditions.isEmpty ? nil : Set(conditions.keys)), conditions: conditions,
      limit: limit)
    guard let page = try await store.changes(query) else { return nil }
    told = []
    for entry in page.entries {
      switch entry.sight {
      case .present(let record, let isNew):
        if !isNew, held[entry.key] == nil { surprises.append(entry.key) }
        held[entry.key] = try Self.united(record)
        told.append("\(isNew ? "new" : "put") \(entry.key)")
      case .gone(let reason):
        held[entry.key] = nil
        told.append("\(reason.rawValue) \(entry.key)")
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
