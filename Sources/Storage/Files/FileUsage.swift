import GRDB
import Model

/// How many bytes and objects a bucket holds, in all and of each owner, kept with every write.
///
/// The row of the empty owner is the whole bucket's.
struct FileUsage {
  let database: Database
  let bucket: Int64

  /// One write's difference to an owner's share.
  struct Change {
    let owner: String
    var bytes: Int64
    var objects: Int64 = 0
  }

  /// Adds differences, unless one that grows would pass a bound.
  ///
  /// - Returns: the bound that would be passed; nothing was added then.
  func add(_ changes: [Change], within quota: FileQuota) throws -> FileQuotaKind? {
    let growth = changes.reduce(0) { $0 + $1.bytes }
    if let max = quota.bucketBytesMax, growth > 0, try bytes(of: "") + growth > max {
      return .bucket
    }
    let own = changes.filter { $0.owner.equalsExactly(quota.owner) }.reduce(0) { $0 + $1.bytes }
    if let max = quota.ownerBytesMax, !quota.owner.isEmpty, own > 0,
      try bytes(of: quota.owner) + own > max
    {
      return .owner
    }
    for change in changes {
      try add(change)
      if !change.owner.isEmpty {
        try add(Change(owner: "", bytes: change.bytes, objects: change.objects))
      }
    }
    return nil
  }

  /// Bytes that may still come.
  ///
  /// - Parameter freed: that come free by the same write.
  func room(within quota: FileQuota, freed: Int64) throws -> FileRoom {
    var room = FileRoom(bytes: nil, bound: .bucket)
    if let max = quota.bucketBytesMax {
      room = FileRoom(bytes: try left(of: max, owner: "", freed: freed), bound: .bucket)
    }
    if let max = quota.ownerBytesMax, !quota.owner.isEmpty {
      let left = try left(of: max, owner: quota.owner, freed: freed)
      if left < room.bytes ?? .max { room = FileRoom(bytes: left, bound: .owner) }
    }
    return room
  }

  private func left(of bytesMax: Int, owner: String, freed: Int64) throws -> Int {
    max(0, bytesMax - Int(try bytes(of: owner) - freed))
  }

  private func bytes(of owner: String) throws -> Int64 {
    let statement = try PreparedStatement(
      database, "SELECT bytes FROM file_usage WHERE bucket = ?1 AND owner = ?2")
    statement.bind(bucket, at: 1)
    statement.bind(owner, at: 2)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  private func add(_ change: Change) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO file_usage (bucket, owner, bytes, objects) VALUES (?1, ?2, ?3, ?4) \
      ON CONFLICT DO UPDATE SET bytes = bytes + ?3, objects = objects + ?4
      """)
    statement.bind(bucket, at: 1)
    statement.bind(change.owner, at: 2)
    statement.bind(change.bytes, at: 3)
    statement.bind(change.objects, at: 4)
    try statement.run()
  }
}
