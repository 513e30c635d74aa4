/// A temporary id and the type of what it stands for: the first entity of that type in the create's
/// answer is the one.
package struct TemporaryEntity: Hashable, Sendable {
  package let id: TemporaryID
  package let type: String

  package init(id: TemporaryID, type: String) {
    self.id = id
    self.type = type
  }
}
