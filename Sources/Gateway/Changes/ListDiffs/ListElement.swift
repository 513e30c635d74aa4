/// One element of a list as a diff sees it: what it is, and a digest of its content.
///
/// The identity is a number, so that a list of a hundred thousand is compared without hashing a
/// text for each; whoever makes the elements sees to it that equal numbers mean the same entity.
package struct ListElement: Hashable, Sendable {
  package let id: UInt64
  package let version: UInt64

  package init(id: UInt64, version: UInt64) {
    self.id = id
    self.version = version
  }
}
