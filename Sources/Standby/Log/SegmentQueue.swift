import Model

/// The commits of a primary that are not in the store yet, in their order.
struct SegmentQueue {
  private struct Waiting {
    let position: Int64
    let commit: LogSegment.Commit
    /// When it was added, by a monotonic clock.
    let since: Duration
  }

  private let epoch: Int64
  private var waiting: [Waiting] = []
  private(set) var bytes = 0
  /// The number of the next segment.
  private(set) var nextNumber: Int64
  /// The last commit in the store.
  private(set) var sentPosition: Int64 = 0
  /// The time of the last commit.
  private(set) var lastAt: Timestamp
  /// The segment that is being added. It stays the same until the store has decided on it.
  private var sending: LogSegment?

  init(epoch: Int64, nextNumber: Int64, notBefore: Timestamp) {
    self.epoch = epoch
    lastAt = notBefore
    self.nextNumber = nextNumber
  }

  var isEmpty: Bool { waiting.isEmpty }

  /// When the oldest one was added; nil without any.
  var oldest: Duration? { waiting.first?.since }

  /// The position of the last one; that of the last one in the store if none waits.
  var lastPosition: Int64 { waiting.last?.position ?? sentPosition }

  /// - Returns: false if the position is not the next one.
  mutating func add(
    _ payload: [UInt8], at position: Int64, time: Timestamp, now: Duration
  ) -> Bool {
    if lastPosition != 0, position != lastPosition + 1 { return false }
    lastAt = max(lastAt, time)
    waiting.append(
      Waiting(
        position: position, commit: LogSegment.Commit(at: lastAt, payload: payload), since: now))
    bytes += payload.count
    return true
  }

  /// Returns the next segment to add; nil without commits.
  ///
  /// - Parameter bytesMax: of payload, unless one commit is larger.
  mutating func next(bytesMax: Int) -> LogSegment? {
    if let sending { return sending }
    guard let first = waiting.first else { return nil }
    var commits: [LogSegment.Commit] = []
    var sum = 0
    for entry in waiting {
      sum += entry.commit.payload.count
      if !commits.isEmpty, sum > bytesMax { break }
      commits.append(entry.commit)
    }
    let segment = LogSegment(
      number: nextNumber, epoch: epoch, first: first.position, commits: commits)
    sending = segment
    return segment
  }

  /// Notes that the store has a segment.
  mutating func noteSent(_ segment: LogSegment) {
    guard sending == segment else { return }
    sending = nil
    nextNumber = segment.number + 1
    bytes -= segment.commits.reduce(0) { $0 + $1.payload.count }
    waiting.removeFirst(segment.commits.count)
    sentPosition = segment.last
  }
}
