import LosslessJSON
import Model

/// The entities that an expected change refers to: those its fields name, and those that the fields
/// it replaces name now, as its device sees them.
struct OverlayReferences {
  private let context: WriteContext
  private let layers: [Scope]

  /// - Parameter scope: where the mutation's answer will be kept.
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
      let record = try EntityLoader(context.database, scopes: scopes, context.memory.touches)
        .load(CollectionOfOne(change.key.key), from: table)[ExactText(change.key.key)]?.record
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
