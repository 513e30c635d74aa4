package import Model

/// The name of a node: random, and kept in its data folder.
package struct NodeID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) { self.text = text }

  package var description: String { text }

  package static func < (left: NodeID, right: NodeID) -> Bool { left.text < right.text }
}

/// The right to write, of one node at a time.
package struct Lease: Hashable, Sendable {
  /// Larger by one with each lease that is taken.
  package let epoch: Int64
  package let holder: NodeID
  /// Where other nodes reach the holder.
  package let url: String
  /// The digest of the holder's operations, schemas and local types.
  package let digest: String
  /// The time that it had left when the backend responded.
  package let validFor: Duration

  package init(epoch: Int64, holder: NodeID, url: String, digest: String, validFor: Duration) {
    self.epoch = epoch
    self.holder = holder
    self.url = url
    self.digest = digest
    self.validFor = validFor
  }
}

/// Who led last, and which node is to lead next, also while there is no leader.
package struct Succession: Hashable, Sendable {
  /// The digest of the last leader's operations, schemas and local types; empty before the first.
  package let digest: String
  /// The only node that may take the lease, until its time is over; nil if any node may.
  package let heir: NodeID?

  package init(digest: String, heir: NodeID?) {
    self.digest = digest
    self.heir = heir
  }
}

/// What a node says of itself, and when it last did.
package struct NodeRecord: Hashable, Sendable {
  package let id: NodeID
  /// Where other nodes reach it: the setting `cluster.advertise`.
  package let url: String
  /// The last position that it has applied.
  package let position: Int64
  /// The version of Larder.
  package let version: String
  /// The digest of its operations, schemas and local types.
  package let digest: String
  /// Whether it may lead: the setting `cluster.candidate`.
  package let isCandidate: Bool
  /// A name of its data folder on its machine, which a copy of the folder does not have; empty if not known.
  package let place: String
  /// The time since its last beat; zero in a record that a node writes.
  package let seenAgo: Duration
  /// Whether it was seen lately enough to count as running.
  package let isLive: Bool

  package init(
    id: NodeID, url: String, position: Int64, version: String, digest: String,
    isCandidate: Bool = true, place: String = "", seenAgo: Duration = .zero, isLive: Bool = true
  ) {
    self.id = id
    self.url = url
    self.position = position
    self.version = version
    self.digest = digest
    self.isCandidate = isCandidate
    self.place = place
    self.seenAgo = seenAgo
    self.isLive = isLive
  }
}

/// One group commit of the leader.
package struct LogRow: Hashable, Sendable {
  /// Larger by one than that of the row before; the first is 1.
  package let position: Int64
  /// The epoch of the lease it was written under.
  package let epoch: Int64
  package let payload: [UInt8]

  package init(position: Int64, epoch: Int64, payload: [UInt8]) {
    self.position = position
    self.epoch = epoch
    self.payload = payload
  }
}

/// Which rows the log has.
package struct LogHead: Hashable, Sendable {
  /// The position of the last row; 0 before the first.
  package let position: Int64
  /// All rows after this position are there: a node at the floor or above can catch up from the log, one below
  /// it needs a snapshot.
  package let floor: Int64
  /// The epoch of the last row; 0 before the first.
  package let epoch: Int64

  package init(position: Int64, floor: Int64, epoch: Int64) {
    self.position = position
    self.floor = floor
    self.epoch = epoch
  }
}

/// A mutation as a device has submitted it, before the leader has queued it.
package struct InboxEntry: Hashable, Sendable {
  /// Its place in the order of all entries, from 1; 0 in an entry to be submitted.
  package let number: Int64
  package let device: String
  /// The idempotency key, unique for the device.
  package let key: String
  package let body: [UInt8]
  /// When it was added, by the backend's clock; ignored in an entry to be submitted.
  package let at: Timestamp

  package init(
    number: Int64 = 0, device: String, key: String, body: [UInt8],
    at: Timestamp = Timestamp(milliseconds: 0)
  ) {
    self.number = number
    self.device = device
    self.key = key
    self.body = body
    self.at = at
  }
}

/// What became of an entry that was submitted.
package struct InboxReceipt: Hashable, Sendable {
  package let number: Int64
  /// False if the inbox had an entry of the device with the same key: it stays as it was, whatever its body.
  package let isNew: Bool

  package init(number: Int64, isNew: Bool) {
    self.number = number
    self.isNew = isNew
  }
}

/// How many entries wait for the leader, and for how long.
package struct InboxState: Hashable, Sendable {
  package let count: Int
  /// The largest number that was given so far; 0 before the first.
  package let lastNumber: Int64
  /// The age of the oldest entry; nil without entries.
  package let oldestAge: Duration?

  package init(count: Int, lastNumber: Int64, oldestAge: Duration?) {
    self.count = count
    self.lastNumber = lastNumber
    self.oldestAge = oldestAge
  }
}

/// A complete copy of the leader's database at a position, as it is stored.
package struct SnapshotInfo: Hashable, Sendable {
  package let id: Int64
  package let position: Int64
  package let byteCount: Int64
  /// SHA-256, 32 bytes.
  package let sha256: [UInt8]
  package let made: Timestamp
  /// The version of Larder that wrote it.
  package let version: String

  package init(
    id: Int64, position: Int64, byteCount: Int64, sha256: [UInt8], made: Timestamp, version: String
  ) {
    self.id = id
    self.position = position
    self.byteCount = byteCount
    self.sha256 = sha256
    self.made = made
    self.version = version
  }
}
