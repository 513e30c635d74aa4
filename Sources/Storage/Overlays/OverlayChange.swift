import LosslessJSON
package import Model

/// An optimistic update: the change a queued mutation is expected to make to one entity, shown to
/// its device at once.
package struct OverlayChange: Hashable, Sendable {
  package enum Action: String, Hashable, Sendable {
    case create
    case merge
    case delete
  }

  package let action: Action
  package let key: EntityKey
  /// An object in the form of ``Model/StoredForm``; empty for a deletion.
  package let fields: [UInt8]

  package init(_ action: Action, _ key: EntityKey, fields: [UInt8] = Array("{}".utf8)) {
    self.action = action
    self.key = key
    self.fields = fields
  }
}

extension OverlayChange {
  /// The temporary ids of its entity and in its fields.
  var temporaryIDs: Set<TemporaryID> {
    var found = Set([TemporaryID(key.key)].compactMap(\.self))
    // Most fields have none and need not be parsed.
    if fields.contains(UInt8(ascii: "~")), let value = try? JSONValue(checked: fields) {
      found.formUnion(TemporaryID.mentioned(in: value))
    }
    return found
  }

  /// Returns the same change with known temporary ids replaced by the real entities.
  func resolving(_ known: [TemporaryID: EntityKey]) -> OverlayChange {
    let value = (try? JSONValue(checked: fields)).map { TemporaryID.substituting(known, in: $0) }
    return OverlayChange(
      action, TemporaryID(key.key).flatMap { known[$0] } ?? key, fields: value?.bytes ?? fields)
  }
}

/// The entities that an optimistic update refers to: those that its fields reference, and those
/// that the fields it replaces reference now, as its device sees them.
struct OverlayReferences {
  private let context: WriteContext
  private let layers: [Scope]

  /// - Parameter scope: the scope in which the mutation's response will be stored.
  init(_ context: WriteContext, device: String, under scope: Scope) {
    self.context = context
    layers = [
      .device(device), scope, Scope(kind: .public, subject: "", partition: scope.partition),
    ]
  }

  func keys(in changes: [OverlayChange]) throws -> [EntityKey] {
    if changes.isEmpty { return [] }
    let scopes = try knownScopes()
    var found: [EntityKey] = []
    for change in changes {
      found.append(change.key)
      guard let members = (try? JSONValue(checked: change.fields))?.members, !members.isEmpty,
        let table = context.catalogue[change.key.type]
      else { continue }
      let record = try EntityLoader(
        context.database, scopes: ViewerScopes(scopes), context.memory.touches
      )
      .load(change.key.key, from: table)?.record
      let shown = (record?.layers ?? []).compactMap { try? JSONValue(checked: $0) }
      for member in members {
        Self.collect(member.value, into: &found)
        if let replaced = shown.lazy.compactMap({ $0[member.name] }).first {
          Self.collect(replaced, into: &found)
        }
      }
    }
    return found
  }

  private func knownScopes() throws -> [Int64] {
    var known: [Int64] = []
    for layer in layers {
      let id = try ScopeTable.find(layer, context.database)
      if let id, !known.contains(id) { known.append(id) }
    }
    return known
  }

  private static func collect(_ value: JSONValue, into found: inout [EntityKey]) {
    switch value {
    case .object(let members):
      let reference = value[StoredForm.referenceMember]
      if let type = reference?[0]?.string, let key = reference?[1]?.string {
        found.append(EntityKey(type: type, key: key))
      } else {
        for member in members { collect(member.value, into: &found) }
      }
    case .array(let elements): for element in elements { collect(element, into: &found) }
    case .null, .bool, .number, .string: break
    }
  }
}
