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

  /// What a round of ``setAsideDevices(unusedSince:at:limit:)`` found.
  package struct UnusedDevices: Hashable, Sendable {
    /// Set aside by this round.
    package let aside: Int
    /// Unused as long, and kept: they hold unfinished mutations or rows of local types.
    package let kept: Int
  }

  /// Sets devices aside that were last used before a moment, some at a time, and takes back those that
  /// were used since. What holds something that is nowhere else stays.
  package func setAsideDevices(
    unusedSince moment: Timestamp, at now: Timestamp, limit: Int
  ) async throws(StorageError) -> UnusedDevices {
    try await writer.write { database, _ in
      let table = DeviceTable(database: database)
      let holding = try DeviceData.holding(database)
      return UnusedDevices(
        aside: try table.setAside(
          unusedSince: moment, holding: holding, at: now, limit: limit),
        kept: try table.countKept(unusedSince: moment, holding: holding))
    }
  }

  /// Devices that were set aside before a moment, the earliest first.
  package func devicesSetAside(
    before moment: Timestamp, limit: Int
  ) async throws(StorageError) -> [String] {
    try await reader.read {
      try DeviceTable(database: $0).idsSetAside(before: moment, limit: limit)
    }
  }

  /// Removes a device with everything that is stored for it alone.
  ///
  /// - Parameter moment: a device that was not set aside before then, or holds something that is
  ///   nowhere else, stays; nil removes it in any case.
  /// - Returns: whether the device was there and is gone.
  package func remove(
    device id: String, setAsideBefore moment: Timestamp? = nil
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, memory in
      let holding = try DeviceData.holding(database)
      let table = DeviceTable(database: database)
      guard try table.remove(id, setAsideBefore: moment, holding: holding) else { return false }
      memory.queues.forget(id)
      try DeviceData(database: database).remove(of: id)
      try RegistrationTable(database: database).follow(id)
      return true
    }
  }
}
