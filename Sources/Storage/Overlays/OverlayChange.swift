import LosslessJSON
package import Model

/// What a queued mutation is expected to do to one entity, shown to its device at once.
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
  /// Those it lies over or names.
  var temporaryIDs: Set<TemporaryID> {
    var found = Set([TemporaryID(key.key)].compactMap(\.self))
    // Most have none, and need not be read.
    if fields.contains(UInt8(ascii: "~")), let value = try? JSONValue(checked: fields) {
      found.formUnion(TemporaryID.mentioned(in: value))
    }
    return found
  }

  /// The same with the real entities in the place of temporary ids that are known.
  func resolving(_ known: [TemporaryID: EntityKey]) -> OverlayChange {
    let value = (try? JSONValue(checked: fields)).map { TemporaryID.substituting(known, in: $0) }
    return OverlayChange(
      action, TemporaryID(key.key).flatMap { known[$0] } ?? key, fields: value?.bytes ?? fields)
  }
}
