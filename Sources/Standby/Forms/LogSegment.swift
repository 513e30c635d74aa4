package import Model

/// A part of the log: consecutive commits of one primary.
///
/// Segments are numbered without gaps from 1, and each is made once: the store refuses a second one with the same
/// number. So the log is one chain, whatever the machines believe of each other. A new primary first makes a segment
/// without commits; a former one, however late, cannot make its next one then.
package struct LogSegment: Hashable, Sendable {
  private static let format: Int64 = 1

  /// One transaction.
  package struct Commit: Hashable, Sendable {
    /// By the primary's clock, never less than that of the commit before it.
    package let at: Timestamp
    /// See `LogPayload` of Storage.
    package let payload: [UInt8]

    package init(at: Timestamp, payload: [UInt8]) {
      self.at = at
      self.payload = payload
    }
  }

  package let number: Int64
  /// The epoch of the lease of the primary that made it.
  package let epoch: Int64
  /// The position of the first commit, or of the next one if it has none.
  package let first: Int64
  package let commits: [Commit]

  package init(number: Int64, epoch: Int64, first: Int64, commits: [Commit]) {
    self.number = number
    self.epoch = epoch
    self.first = first
    self.commits = commits
  }

  /// The position of the last commit here, or of the last one before it.
  package var last: Int64 { first + Int64(commits.count) - 1 }

  /// Returns the commits after a position, with their positions.
  package func commits(after position: Int64) -> [(position: Int64, commit: Commit)] {
    zip(first..., commits).filter { $0.0 > position }.map { (position: $0.0, commit: $0.1) }
  }

  /// Ten thousand in a folder, so that none gets too large for a file system.
  static func name(_ number: Int64) -> String {
    "log/\(padded(number / 10_000, 12))/\(padded(number, 16))"
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  var bytes: [UInt8] {
    var writer = ObjectWriter()
    writer.number(Self.format)
    writer.number(number)
    writer.number(epoch)
    writer.number(first)
    writer.number(Int64(commits.count))
    for commit in commits {
      writer.number(commit.at.milliseconds)
      writer.blob(commit.payload)
    }
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(StandbyError) {
    var reader = ObjectReader(bytes)
    try reader.format(Self.format)
    number = try reader.number()
    epoch = try reader.number()
    first = try reader.number()
    var commits: [Commit] = []
    for _ in 0..<(try reader.count()) {
      commits.append(
        Commit(
          at: Timestamp(milliseconds: try reader.number()), payload: try reader.blob()))
    }
    self.commits = commits
  }
}
