import Synchronization

/// Counts how often credentials that were good before were all refused at once: what was kept ready
/// for them before is given to nobody after.
final class CredentialEpoch: Sendable {
  private let number = Atomic(0)

  var current: Int { number.load(ordering: .acquiring) }

  func end() {
    number.add(1, ordering: .releasing)
  }
}
