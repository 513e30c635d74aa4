import GRDB
package import Model
import Synchronization

/// Registered devices. Changes that were confirmed to a client survive a power failure.
extension Store {
  /// - Parameter tokenDigest: the digest of the device's token; never the token itself.
  package func register(_ device: Device, tokenDigest: String) async throws(StorageError) {
    try await writer.write(.powerFailure) { database, _ in
      try DeviceTable(database: database).insert(device, tokenDigest: tokenDigest)
    }
  }

  /// Returns the device of a token; nil for an unknown or revoked token.
  package func device(tokenDigest: String) async throws(StorageError) -> Device? {
    try await reader.read { try DeviceTable(database: $0).find(tokenDigest: tokenDigest) }
  }

  package func device(id: String) async throws(StorageError) -> Device? {
    try await reader.read { try DeviceTable(database: $0).find(id: id) }
  }

  /// Returns devices in the order of their ids.
  ///
  /// - Parameters:
  ///   - after: the id before the page; empty for the first page.
  ///   - user: whose devices alone; nil for all.
  package func devices(
    after: String, user: String?, limit: Int
  ) async throws(StorageError) -> [Device] {
    try await reader.read {
      try DeviceTable(database: $0).page(after: after, user: user, limit: limit)
    }
  }

  /// - Returns: the device after the change; nil if it no longer exists.
  package func change(
    device id: String, _ change: DeviceChange
  ) async throws(StorageError) -> Device? {
    try await writer.write(.powerFailure) { database, _ in
      let changed = try DeviceTable(database: database).change(id, change)
      try RegistrationTable(database: database).follow(id)
      return changed
    }
  }

  /// Binds a device to a user unless it is already bound to another one.
  ///
  /// - Returns: the device with its user; nil if it no longer exists.
  package func bind(
    device id: String, to user: String
  ) async throws(StorageError) -> Device? {
    try await writer.write(.powerFailure) { database, _ in
      try DeviceTable(database: database).bind(id, to: user)
    }
  }

  /// - Returns: false if the old token is no longer valid.
  package func replaceToken(
    from old: String, to new: String
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try DeviceTable(database: database).replaceToken(from: old, to: new)
    }
  }

  /// The result of adding a token that only reads.
  package enum TokenAddition: Hashable, Sendable {
    case added
    /// The device has as many tokens as it can.
    case full
    /// The device's own token was replaced, or the device removed.
    case unknown
  }

  /// Adds a token that only reads, and removes the device's expired ones.
  ///
  /// - Parameters:
  ///   - ownDigest: the digest of the device's own token, which must still be valid.
  ///   - countMax: the maximum number of such tokens of a device.
  package func add(
    _ token: DeviceReadToken, tokenDigest: String, by ownDigest: String, countMax: Int
  ) async throws(StorageError) -> TokenAddition {
    try await writer.write(.powerFailure) { database, _ in
      guard let device = try DeviceTable(database: database).findByOwnToken(ownDigest)
      else { return .unknown }
      let table = DeviceTokenTable(database: database)
      _ = try table.removeExpired(at: token.made, of: device.id, limit: countMax)
      guard try table.all(of: device.id).count < countMax else { return .full }
      try table.insert(token, tokenDigest: tokenDigest, of: device.id)
      return .added
    }
  }

  /// Returns the tokens of a device that only read, the first to expire first.
  package func readTokens(of device: String) async throws(StorageError) -> [DeviceReadToken] {
    try await reader.read { try DeviceTokenTable(database: $0).all(of: device) }
  }

  /// - Returns: false if the device has no token of this id.
  package func removeReadToken(
    _ id: String, of device: String
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try DeviceTokenTable(database: database).remove(id, of: device)
    }
  }

  /// Removes tokens that had expired at a moment.
  ///
  /// - Returns: the number of tokens removed, at most `limit`.
  package func removeReadTokens(
    expiredAt moment: Timestamp, limit: Int
  ) async throws(StorageError) -> Int {
    try await writer.write { database, _ in
      try DeviceTokenTable(database: database).removeExpired(at: moment, limit: limit)
    }
  }

  /// Records that a device was used. Losing this shortens the device's lifetime by an hour at most, so it
  /// does not wait for a sync.
  package func touch(device id: String, at moment: Timestamp) async throws(StorageError) {
    try await writer.write { database, _ in
      try DeviceTable(database: database).touch(id, at: moment)
    }
  }

  /// The result of one ``setAsideDevices(unusedSince:at:limit:)``.
  package struct UnusedDevices: Hashable, Sendable {
    /// The number of devices set aside by this call.
    package let aside: Int
    /// The number of unused devices that stay because they hold unfinished mutations or rows of local types.
    package let kept: Int
  }

  /// Sets aside devices that were last used before a moment, at most `limit`, and takes back those that
  /// were used since. Devices with unique data stay.
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

  /// Returns the devices that were set aside before a moment, earliest first.
  package func devicesSetAside(
    before moment: Timestamp, limit: Int
  ) async throws(StorageError) -> [String] {
    try await reader.read {
      try DeviceTable(database: $0).idsSetAside(before: moment, limit: limit)
    }
  }

  /// Deletes all data that is stored for a device only: its own rows, its queue with the outcomes and
  /// the idempotency keys, its optimistic updates. The device and its tokens stay.
  ///
  /// - Returns: nil if the device does not exist.
  package func reset(
    device id: String, at now: Timestamp
  ) async throws(StorageError) -> CommitReport? {
    let catalogue = catalogue
    let perform: @Sendable (Database, WriterMemory) throws -> (CommitReport, Set<Int64>)? = {
      database, memory in
      guard try DeviceTable(database: database).exists(id) else { return nil }
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      let emptied = try DeviceReset(context: context, device: id, now: now).perform()
      return (context.finish(), emptied)
    }
    let done = try await writer.write(.powerFailure, report: { $0?.0 }, perform)
    if let emptied = done?.1 { emptiedIndexes.withLock { $0.add(emptied) } }
    return done?.0
  }

  /// Removes a device with all data that is stored for it only.
  ///
  /// - Parameter moment: a device that was not set aside before then, or that holds unique data, stays;
  ///   nil removes it in any case.
  /// - Returns: whether the device existed and was removed.
  package func remove(
    device id: String, setAsideBefore moment: Timestamp? = nil
  ) async throws(StorageError) -> Bool {
    let perform: @Sendable (Database, WriterMemory) throws -> Set<Int64>? = { database, memory in
      let holding = try DeviceData.holding(database)
      let table = DeviceTable(database: database)
      guard try table.remove(id, setAsideBefore: moment, holding: holding) else { return nil }
      memory.queues.forget(id)
      try DeviceTokenTable(database: database).removeAll(of: id)
      let emptied = try DeviceData(database: database).remove(of: id)
      try RegistrationTable(database: database).follow(id)
      return emptied
    }
    guard let emptied = try await writer.write(.powerFailure, perform) else { return false }
    emptiedIndexes.withLock { $0.add(emptied) }
    return true
  }
}
