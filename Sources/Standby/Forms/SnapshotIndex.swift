package import Model

/// The snapshots that the store has, and which segments of the log.
package struct SnapshotIndex: Hashable, Sendable {
  private static let format: Int64 = 1
  static let name = "snapshots/index"

  /// A complete copy of the database.
  package struct Entry: Hashable, Sendable {
    /// Of its pieces; unique.
    package let name: String
    /// The last commit in it.
    package let position: Int64
    /// The time of that commit.
    package let at: Timestamp
    /// The epoch of the primary that made it.
    package let epoch: Int64
    /// All commits after it are in segments with a larger number.
    package let segment: Int64
    package let byteCount: Int64
    package let pieceCount: Int64
    /// SHA-256, 32 bytes.
    package let sha256: [UInt8]
    package let made: Timestamp
    /// The version of Larder that wrote it.
    package let version: String

    package init(
      name: String, position: Int64, at: Timestamp, epoch: Int64, segment: Int64,
      byteCount: Int64, pieceCount: Int64, sha256: [UInt8], made: Timestamp, version: String
    ) {
      self.name = name
      self.position = position
      self.at = at
      self.epoch = epoch
      self.segment = segment
      self.byteCount = byteCount
      self.pieceCount = pieceCount
      self.sha256 = sha256
      self.made = made
      self.version = version
    }
  }

  /// In the order in which they were made.
  package var entries: [Entry] = []
  /// All segments after this one are there.
  package var floor: Int64 = 0
  /// All segments up to this one are removed; those up to the floor are being removed.
  var removed: Int64 = 0
  /// Snapshots that are being removed.
  var doomed: [Entry] = []

  package init() {}

  package var latest: Entry? { entries.last }

  /// The entries that need not be kept: all before the last one that was made at `limit` or earlier, so that each moment
  /// since then can be restored.
  package func outdated(before limit: Timestamp) -> [Entry] {
    guard let last = entries.lastIndex(where: { $0.made <= limit }) else { return [] }
    return Array(entries[..<last])
  }

  /// The snapshot from which a moment is restored.
  package func entry(for moment: Timestamp) -> Entry? { entries.last { $0.at <= moment } }

  var bytes: [UInt8] {
    var writer = ObjectWriter()
    writer.number(Self.format)
    writer.number(floor)
    writer.number(removed)
    Self.write(entries, to: &writer)
    Self.write(doomed, to: &writer)
    return writer.bytes
  }

  private static func write(_ entries: [Entry], to writer: inout ObjectWriter) {
    writer.number(Int64(entries.count))
    for entry in entries {
      writer.text(entry.name)
      writer.number(entry.position)
      writer.number(entry.at.milliseconds)
      writer.number(entry.epoch)
      writer.number(entry.segment)
      writer.number(entry.byteCount)
      writer.number(entry.pieceCount)
      writer.blob(entry.sha256)
      writer.number(entry.made.milliseconds)
      writer.text(entry.version)
    }
  }

  init(_ bytes: [UInt8]) throws(StandbyError) {
    var reader = ObjectReader(bytes)
    try reader.format(Self.format)
    floor = try reader.number()
    removed = try reader.number()
    entries = try Self.entries(from: &reader)
    doomed = try Self.entries(from: &reader)
  }

  private static func entries(from reader: inout ObjectReader) throws(StandbyError) -> [Entry] {
    var entries: [Entry] = []
    for _ in 0..<(try reader.count()) {
      entries.append(
        Entry(
          name: try reader.text(), position: try reader.number(),
          at: Timestamp(milliseconds: try reader.number()), epoch: try reader.number(),
          segment: try reader.number(), byteCount: try reader.number(),
          pieceCount: try reader.number(), sha256: try reader.blob(),
          made: Timestamp(milliseconds: try reader.number()), version: try reader.text()))
    }
    return entries
  }
}
