import GRDB
import Model

/// The bytes that clients have stored of their own, as counted by the triggers of ``UsageSchema``.
struct OwnerUsage {
  let database: Database

  /// Returns the bytes of an owner.
  ///
  /// - Parameter owner: a scope of own data.
  func bytes(of owner: Scope) throws -> Int {
    let statement = try PreparedStatement(
      database, "SELECT bytes FROM owner_usage WHERE kind = ?1 AND subject = ?2")
    statement.bind(Int64(owner.kind.rawValue), at: 1)
    statement.bind(owner.subject, at: 2)
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// Returns the bytes of all devices without a user together.
  func unboundBytes() throws -> Int {
    let statement = try PreparedStatement(database, "SELECT bytes FROM unbound_usage")
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// Returns the quota that an owner would exceed by storing `added` more bytes; nil for none.
  func excess(
    of owner: Scope, adding added: Int, under quota: DataQuota
  ) throws -> DataQuota.Excess? {
    guard quota != .unlimited else { return nil }
    guard try bytes(of: owner) <= quota.ownerBytesMax - added else {
      return .owner(bytesMax: quota.ownerBytesMax)
    }
    guard owner.kind == .device, try unboundBytes() > quota.unboundBytesMax - added,
      try isUnbound(owner.subject)
    else { return nil }
    return .unbound(bytesMax: quota.unboundBytesMax)
  }

  /// Removes the row of a device of which nothing is stored any more.
  func forget(device: String) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM owner_usage WHERE kind = ?1 AND subject = ?2")
    statement.bind(Int64(Scope.Kind.device.rawValue), at: 1)
    statement.bind(device, at: 2)
    try statement.run()
  }

  private func isUnbound(_ device: String) throws -> Bool {
    let statement = try PreparedStatement(
      database, "SELECT 1 FROM device WHERE id = ?1 AND owner IS NULL")
    statement.bind(device, at: 1)
    defer { statement.reset() }
    return try statement.step()
  }
}
