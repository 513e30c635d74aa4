import GRDB
import Model

/// Writes to one bucket's objects within a transaction: condition, quota, row, usage, and the file
/// that is no longer referred to.
struct ObjectWriting {
  let database: Database
  let bucket: Int64

  /// - Parameters:
  ///   - freed: what comes free by the same write, of uploads' parts.
  ///   - dead: files that the same write leaves behind.
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
