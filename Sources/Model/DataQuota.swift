/// How many bytes clients may have stored for themselves: local rows, and mutations with what is
/// expected of them and what came of them.
package struct DataQuota: Hashable, Sendable {
  /// Of one device, and of one user.
  package var ownerBytesMax: Int
  /// Of all devices without a user together: anybody can register one, and another.
  package var unboundBytesMax: Int

  package static let unlimited = DataQuota(ownerBytesMax: .max, unboundBytesMax: .max)

  package init(ownerBytesMax: Int, unboundBytesMax: Int) {
    self.ownerBytesMax = ownerBytesMax
    self.unboundBytesMax = unboundBytesMax
  }

  /// Which bound a write passes.
  package enum Excess: Hashable, Sendable {
    case owner(bytesMax: Int)
    case unbound(bytesMax: Int)
  }
}
