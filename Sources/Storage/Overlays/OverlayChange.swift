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
