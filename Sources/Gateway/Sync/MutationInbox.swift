/// The inbox that the nodes of a cluster share: what devices have submitted, until the leader has moved it to
/// their queues.
package protocol MutationInbox: Sendable {
  /// Whether a node leads, as far as this node knows: it moves entries to the queues within moments.
  var hasLeader: Bool { get }

  /// Adds an entry, unless there is one of the same device with the same key.
  ///
  /// A call that throws may have added it; a repetition then finds it.
  func add(
    device: String, key: String, body: [UInt8]
  ) async throws(InboxOutage) -> InboxAddition

  /// Returns entries with larger numbers, in order. Once an entry was seen, none with a smaller number appears.
  func entries(after number: Int64, limit: Int) async throws(InboxOutage) -> [InboxRow]

  /// Returns the entries of one device, in order.
  func entries(of device: String) async throws(InboxOutage) -> [InboxRow]

  /// Removes entries; numbers without an entry are ignored.
  func remove(_ numbers: [Int64]) async throws(InboxOutage)

  /// Waits until there may be entries with larger numbers, at most that long.
  func wait(after number: Int64, atMost limit: Duration) async

  /// Waits until this node has applied all commits that the cluster's log has now.
  ///
  /// - Returns: false if that takes longer than `limit`.
  func catchUp(within limit: Duration) async throws(InboxOutage) -> Bool
}

/// An entry of the inbox.
package struct InboxRow: Hashable, Sendable {
  /// The place in the order of all entries, from 1.
  package let number: Int64
  package let device: String
  /// The idempotency key of the first mutation.
  package let key: String
  /// See ``Storage/MutationCodec``.
  package let body: [UInt8]
  /// How long it has been there, by the inbox's own clock.
  package let age: Duration

  package init(number: Int64, device: String, key: String, body: [UInt8], age: Duration) {
    self.number = number
    self.device = device
    self.key = key
    self.body = body
    self.age = age
  }
}

package struct InboxAddition: Hashable, Sendable {
  package let number: Int64
  /// False if the inbox had an entry with the key, whatever its body.
  package let isNew: Bool

  package init(number: Int64, isNew: Bool) {
    self.number = number
    self.isNew = isNew
  }
}

/// The inbox cannot be reached; retry later.
package struct InboxOutage: Error, Hashable, Sendable {
  /// What operators do about it.
  static let remedy =
    "check that this node reaches PostgreSQL (`cluster.postgres`); `larder doctor` tries it"

  /// This node has not applied the cluster's log in time.
  static let behind = InboxOutage(
    cause: "this node has not applied the cluster's log", isOfDelay: true)

  /// For the log.
  package let cause: String
  /// Whether everything could be reached, and only took too long.
  let isOfDelay: Bool
  /// Whether it is certain that the call has stored nothing.
  package let isNothingStored: Bool

  package init(cause: String, isNothingStored: Bool = false) {
    self.init(cause: cause, isOfDelay: false, isNothingStored: isNothingStored)
  }

  private init(cause: String, isOfDelay: Bool, isNothingStored: Bool = false) {
    self.cause = cause
    self.isOfDelay = isOfDelay
    self.isNothingStored = isNothingStored
  }
}
