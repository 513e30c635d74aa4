/// The number of a commit that changed content: one writer makes them, so the order of numbers is
/// the order of commits and of visibility.
package struct Revision: Hashable, Comparable, Sendable {
  package let value: Int64

  package init(_ value: Int64) {
    self.value = value
  }

  package static func < (left: Revision, right: Revision) -> Bool { left.value < right.value }

  /// The revision of an empty database.
  package static let zero = Revision(0)
}
