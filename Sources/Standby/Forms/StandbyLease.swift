package import Model

/// The right to write, as it is stored: of one machine, until it releases it or stops renewing it.
///
/// It has no time at which it ends. A machine that waits for it observes by its own clock that it does
/// not change, so no two
/// clocks are compared.
package struct StandbyLease: Hashable, Sendable {
  private static let format: Int64 = 1
  static let name = "lease"

  /// The name that the history got when it began; random.
  package let history: String
  /// Larger by one with each machine that takes the lease, also if it is the same as before.
  package let epoch: Int64
  /// The name of the node: random, and kept in its data folder.
  package let holder: String
  /// Of the machine, for people.
  package let host: String
  /// The version of Larder that the holder runs.
  package let version: String
  /// How long it is valid after each renewal.
  package let duration: Duration
  /// The node that was the last to write, or to be about to; empty before the first. A holder that has not come so far
  /// leaves it as it was.
  package private(set) var writer: String
  /// The first of the epochs since when no other node has written.
  package private(set) var writerSince: Int64
  /// The number of renewals, by which two states of it differ.
  package var renewal: Int64
  /// Whether the holder has ended: any machine can take it at once.
  package var isReleased: Bool
  /// When it was last renewed, by the holder's clock, for people.
  package var renewed: Timestamp
  /// The age of the oldest commit that was not in the store then.
  package var unsentAge = Duration.zero

  package init(
    history: String, epoch: Int64, holder: String, host: String, version: String,
    duration: Duration, renewed: Timestamp, after former: StandbyLease? = nil
  ) {
    self.history = history
    self.epoch = epoch
    self.holder = holder
    self.host = host
    self.version = version
    self.duration = duration
    writer = former?.writer ?? ""
    writerSince = former?.writerSince ?? 0
    renewal = 0
    isReleased = false
    self.renewed = renewed
  }

  /// The same lease when its holder is about to write.
  package var claimed: StandbyLease {
    var lease = self
    if writer != holder {
      lease.writer = holder
      lease.writerSince = epoch
    }
    lease.renewal += 1
    return lease
  }

  /// Whether no node but this one has written since an epoch.
  package func hasOnlyWriter(_ node: String, since epoch: Int64) -> Bool {
    writer == node && epoch >= writerSince
  }

  /// Whether another state is of the same time of holding it.
  package func isHeldLike(_ other: StandbyLease) -> Bool {
    epoch == other.epoch && holder == other.holder && history == other.history
  }

  var bytes: [UInt8] {
    var writer = ObjectWriter()
    writer.number(Self.format)
    writer.text(history)
    writer.number(epoch)
    writer.text(holder)
    writer.text(host)
    writer.text(version)
    writer.number(duration.milliseconds)
    writer.text(self.writer)
    writer.number(writerSince)
    writer.number(renewal)
    writer.flag(isReleased)
    writer.number(renewed.milliseconds)
    writer.number(unsentAge.milliseconds)
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(StandbyError) {
    var reader = ObjectReader(bytes)
    try reader.format(Self.format)
    history = try reader.text()
    epoch = try reader.number()
    holder = try reader.text()
    host = try reader.text()
    version = try reader.text()
    duration = .milliseconds(try reader.number())
    writer = try reader.text()
    writerSince = try reader.number()
    renewal = try reader.number()
    isReleased = try reader.flag()
    renewed = Timestamp(milliseconds: try reader.number())
    unsentAge = .milliseconds(try reader.number())
  }
}

/// A lease with the version of the register that holds it.
package struct VersionedLease: Hashable, Sendable {
  package let lease: StandbyLease
  package let version: String
}

/// Decides by an own clock that a holder has stopped renewing its lease.
///
/// The holder counts the lease's time from before it asked for the renewal, and stops writing then. This counts from
/// after it has seen a renewal, and a little longer, so it always ends later.
package struct LeaseWatch: Sendable {
  /// For clocks of different speed, and for writes under way.
  private static let margin = Duration.seconds(1)

  private var version: String?
  private var since = Duration.zero

  package init() {}

  /// - Parameters:
  ///   - seen: the lease as it was read.
  ///   - now: an own monotonic clock, after it was read.
  package mutating func isExpired(_ seen: VersionedLease, at now: Duration) -> Bool {
    guard seen.version == version else {
      version = seen.version
      since = now
      return false
    }
    return now - since > seen.lease.duration + Self.margin
  }

  /// Begins again, after the lease could not be read: where the store did not respond, the holder could not renew it
  /// either, and is to get the time for it.
  package mutating func forget() { version = nil }
}
