import GRDB
import Model

/// Writes to one bucket's objects within a transaction: checks condition and quota, updates row and usage,
/// and records the replaced file as dead.
struct ObjectWriting {
  let database: Database
  let bucket: Int64

  /// - Parameters:
  ///   - freed: the usage that the same write frees: the parts of an upload.
  ///   - dead: files that nothing refers to after the same write.
  func put(
    _ object: StoredObject, if condition: WriteCondition, quota: FileQuota,
    freed: [FileUsage.Change] = [], dead: [BlobName] = []
  ) throws -> ObjectCommit {
    let table = ObjectTable(database: database, bucket: bucket)
    let old = try table.row(object.metadata.key)
    guard condition.holds(for: old?.state) else { return .conditionFailed }
    var changes = freed
    changes.append(
      FileUsage.Change(owner: quota.owner, bytes: Int64(object.metadata.size), objects: 1))
    if let old { changes.append(FileUsage.Change(owner: old.owner, bytes: -old.size, objects: -1)) }
    let usage = FileUsage(database: database, bucket: bucket)
    if let kind = try usage.add(changes, within: quota) { return .overQuota(kind) }
    try table.put(object, owner: quota.owner)
    let parts = ObjectPartTable(database: database)
    switch object.origin {
    case .whole: break
    case .parts(let list): try parts.insert(list, of: object.blob)
    case .copy(let source): try parts.copy(from: source, to: object.blob)
    }
    let dead = dead + (old.map { [$0.blob] } ?? [])
    try DeadBlobTable(database: database).insert(dead)
    return .stored(isNew: old == nil, dead: dead)
  }

  func remove(_ key: ObjectKey, if condition: WriteCondition) throws -> ObjectRemoval {
    let table = ObjectTable(database: database, bucket: bucket)
    let old = try table.row(key)
    guard condition.holds(for: old?.state) else { return .conditionFailed }
    guard let old else { return .noSuchKey }
    try table.remove(key)
    _ = try FileUsage(database: database, bucket: bucket).add(
      [FileUsage.Change(owner: old.owner, bytes: -old.size, objects: -1)], within: .none)
    try DeadBlobTable(database: database).insert([old.blob])
    return .removed(dead: old.blob)
  }
}

/// The number of bytes and objects in a bucket, in total and for each owner, updated by every write.
///
/// The row with an empty owner is the total of the bucket.
struct FileUsage {
  let database: Database
  let bucket: Int64

  /// The change of an owner's usage by one write.
  struct Change {
    let owner: String
    var bytes: Int64
    var objects: Int64 = 0
  }

  /// Adds changes, unless the growth would exceed a quota.
  ///
  /// - Returns: the exceeded quota, with nothing added; nil on success.
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

  /// Returns the bytes that can still be written.
  ///
  /// - Parameter freed: bytes that the same write frees.
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
