package import LosslessJSON
package import Model
package import Storage

/// Where an entity comes from: its stored copies in every scope, for operators.
package struct EntityProvenance: Sendable {
  /// The copies of one entity that are read at most.
  package static let copiesMax = 50
  /// The earlier states that are read at most.
  package static let statesMax = 50

  package struct Copies: Sendable {
    package let copies: [EntityCopy]
    /// Whether there are more than ``copiesMax``.
    package let hasMore: Bool
    /// At most ``statesMax`` states.
    package let history: EntityHistory
  }

  private let store: ReadSession

  package init(store: ReadSession) {
    self.store = store
  }

  package func copies(of key: EntityKey) async throws(Failure) -> Copies {
    let found: [EntityCopy]?
    let history: EntityHistory?
    do throws(StorageError) {
      found = try await store.copies(of: key, limit: Self.copiesMax + 1)
      history = try await store.history(of: key, limit: Self.statesMax)
    } catch {
      throw Failure(
        .storageUnavailable, "The database cannot be read; retry later.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
    guard let found else {
      throw Failure(.notFound, "There is no table for a type with this name.")
    }
    guard !found.isEmpty else {
      throw Failure(.notFound, "No scope has a copy of this entity.")
    }
    return Copies(
      copies: Array(found.prefix(Self.copiesMax)), hasMore: found.count > Self.copiesMax,
      history: history ?? EntityHistory(recordedSince: nil, states: []))
  }

  /// Returns a stored value as JSON, with references to entities as `{"type","id"}`.
  package static func shown(_ value: [UInt8]) -> JSONValue {
    guard let document = try? JSONDocument(checked: value) else { return .null }
    return shown(document.root)
  }

  private static func shown(_ node: JSONNode) -> JSONValue {
    switch node.kind {
    case .array: return .array(node.elements.map(shown))
    case .object:
      if let key = EntityKey(reference: node) {
        return ["type": .string(key.type), "id": .string(key.key)]
      }
      return .object(node.members.map { JSONMember($0.name, shown($0.value)) })
    default: return (try? JSONValue(checked: Array(node.rawBytes))) ?? .null
    }
  }
}
