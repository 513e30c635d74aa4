/// A key that signs tokens, as the store keeps it.
package struct SealedKey: Hashable, Sendable {
  package let id: String
  package let sealed: [UInt8]
  package let created: Timestamp

  package init(id: String, sealed: [UInt8], created: Timestamp) {
    self.id = id
    self.sealed = sealed
    self.created = created
  }
}
