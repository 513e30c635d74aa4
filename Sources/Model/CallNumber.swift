/// The place of an upstream call, a purge or an invalidation in the one order that decides which
/// of two values stays.
///
/// A query takes its number when it starts. A mutation, a purge and an invalidation take theirs
/// when they settle, so that whatever began before them cannot bring back what they replaced. The
/// numbers grow for the life of the database, across restarts, and never come from a clock.
package struct CallNumber: Hashable, Comparable, Sendable {
  package let value: Int64

  package init(_ value: Int64) {
    self.value = value
  }

  package static func < (left: CallNumber, right: CallNumber) -> Bool { left.value < right.value }

  /// Before every call.
  package static let none = CallNumber(0)
}
