import GRDB
package import Model

/// Registered devices. What a client was told of them survives a power failure.
extension Store {
  /// - Parameter tokenDigest: of the token that names the device from now on; never the token.
  package func register(_ device: Device, tokenDigest: String) async throws(StorageError) {
    try await writer.write(.powerFailure) { database, _ in
      try DeviceTable(database: database).insert(device, tokenDigest: tokenDigest)
    }
  }

  /// The device that a token names; nil for an unknown or revoked one.
  package func device(tokenDigest: String) async throws(StorageError) -> Device? {
    try await reader.read { try DeviceTable(database: $0).find(tokenDigest: tokenDigest) }
  }

  /// - Returns: the device as it is now; nil where it is gone.
  package func change(
    device id: String, _ change: DeviceChange
  ) async throws(StorageError) -> Device? {
    try await writer.write(.powerFailure) { database, _ in
      let changed = try DeviceTable(database: database).change(id, change)
      try RegistrationTable(database: database).follow(id)
      return changed
    }
  }

  /// Makes a device the user's, unless it is another's already.
  ///
  /// - Returns: the device with the user it belongs to; nil where it is gone.
  package func bind(
    device id: String, to user: String
  ) async throws(StorageError) -> Device? {
    try await writer.write(.powerFailure) { database, _ in
      try DeviceTable(database: database).bind(id, to: user)
    }
  }

  /// - Returns: false where the old token names no device any more.
  package func replaceToken(
    from old: String, to new: String
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try DeviceTable(database: database).replaceToken(from: old, to: new)
    }
  }

  /// Notes that a device was used. Losing it costs an hour of its life, so no sync is waited for.
  package func touch(device id: String, at moment: Timestamp) async throws(StorageError) {
    try await writer.write { database, _ in
      try DeviceTable(database: database).touch(id, at: moment)
    }
  }

  /// Devices last used before a moment, the longest unused first.
  package func devicesUnused(
    since moment: Timestamp, limit: Int
  ) async throws(StorageError) -> [String] {
    try await reader.read {
      try DeviceTable(database: $0).idsUnused(since: moment, limit: limit)
    }
  }

  /// Removes a device with everything that is stored for it alone.
  ///
  /// - Parameter moment: a device used since then stays; nil removes it whatever its use.
  /// - Returns: whether the device was there and is gone.
  package func remove(
    device id: String, unusedSince moment: Timestamp? = nil
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, memory in
      guard try DeviceTable(database: database).remove(id, unusedSince: moment) else {
        return false
      }
      memory.queues.forget(id)
      try DeviceData(database: database).remove(of: id)
      try RegistrationTable(database: database).follow(id)
      return true
    }
  }
}
