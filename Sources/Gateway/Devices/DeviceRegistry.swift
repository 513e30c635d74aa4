import Accounts
package import Logging
package import Model
package import Storage
import Synchronization

/// Registers, identifies, changes and removes devices.
///
/// A changed or revoked token takes effect at once: before the response, the cache drops it and the
/// device's open streams are ended.
package final class DeviceRegistry: Sendable {
  /// A new device with its token, which is shown only once.
  package struct Registered: Sendable {
    package let device: Device
    package let token: String
  }

  private static let idByteCount = 16
  /// The resolution of the stored time of last use.
  private static let useGrain = Duration.seconds(3_600)
  /// Maximum devices set aside or removed in one round.
  private static let expiredMax = 100
  /// How long an expired device is kept before it is removed.
  static let asideFor = Duration.seconds(7 * 86_400)

  /// Maximum tokens of a device that only read.
  private static let readTokensMax = 20
  /// Maximum expired tokens removed in one round.
  private static let expiredTokensMax = 1_000

  private let store: Store
  private let settings: DeviceSettings
  private let clock: WallClock
  /// The clock that devices expire by.
  private let expiryClock: WallClock
  private let random: RandomBytes
  private let signal: CommitSignal
  private let logger: Logger
  private let cache = DeviceCache()
  private let throttle: AttemptThrottle
  private let whenChanged: @Sendable () -> Void
  /// On a replica, which changes no device; nil on other nodes.
  private let leader: LeaderLink?
  private let isCutOff: @Sendable () -> Bool
  /// A disabled user's tokens are refused, and so are those of the user's devices.
  let disabled: DisabledAccounts
  /// The number of unused devices kept because of their data, as last logged.
  private let keptCount = Atomic(0)

  /// - Parameters:
  ///   - expiryClock: the clock that devices expire by, see ``TrustedClock``; nil for `clock`.
  ///   - isCutOff: whether this node of a cluster learns nothing new, so that a token that it does not know can
  ///     be newer than its store.
  ///   - whenChanged: called after a device was changed or removed on disk.
  package init(
    store: Store, settings: DeviceSettings, clock: WallClock, expiryClock: WallClock? = nil,
    random: RandomBytes, signal: CommitSignal, logger: Logger,
    disabled: DisabledAccounts = DisabledAccounts(), leader: LeaderLink? = nil,
    isCutOff: @escaping @Sendable () -> Bool = { false },
    whenChanged: @escaping @Sendable () -> Void = {}
  ) {
    self.isCutOff = isCutOff
    self.disabled = disabled
    self.leader = leader
    self.store = store
    self.settings = settings
    self.clock = clock
    self.expiryClock = expiryClock ?? clock
    self.random = random
    self.signal = signal
    self.logger = logger
    self.whenChanged = whenChanged
    throttle = AttemptThrottle(perMinute: settings.registrationsPerMinute)
  }

  /// Whether anyone can register a device.
  var isOpen: Bool { settings.registration == .open }

  // MARK: Registering

  /// - Parameter network: the client's network, which many clients can share.
  package func register(
    _ registration: DeviceRegistration, by caller: Caller, from network: ClientNetwork
  ) async throws(Failure) -> Registered {
    try admit(caller, from: network)
    let token = DeviceToken(random: random)
    let now = expiryClock.now()
    let device = Device(
      id: "d_\(Base64URL.encode(random.bytes(Self.idByteCount)))", platform: registration.platform,
      name: registration.name, pushToken: registration.pushToken, user: caller.user,
      registered: now, lastUsed: now, access: registration.access)
    try await writing { () async throws(StorageError) in
      try await self.store.register(device, tokenDigest: token.digest)
    }
    return Registered(device: device, token: token.text)
  }

  private func admit(_ caller: Caller, from network: ClientNetwork) throws(Failure) {
    if caller.isAdmin { return }
    switch settings.registration {
    case .open: break
    case .user:
      guard caller.user != nil else {
        throw Failure(.signInRequired, "Registering a device requires a signed-in user.")
      }
    case .admin:
      throw Failure(.unauthenticated, "Registering a device requires the admin token.")
    }
    let names =
      network.attemptNames
      + ((caller.user ?? caller.subject).map { [.init("caller \($0)")] } ?? [])
    if let wait = throttle.take(names, at: clock.now()) {
      throw Failure(
        .rateLimited, "Too many devices were registered by this user or network; retry later.",
        retry: .after, retryAfter: wait)
    }
  }

  // MARK: Operators

  /// Returns devices in the order of their ids, for operators.
  ///
  /// - Parameters:
  ///   - after: the id before the page; empty for the first page.
  ///   - user: whose devices alone; nil for all.
  package func page(
    after: String, user: String?, limit: Int
  ) async throws(Failure) -> [Device] {
    do throws(StorageError) {
      return try await store.devices(after: after, user: user, limit: limit)
    } catch {
      throw Self.unreadable(error)
    }
  }

  /// Returns a device by its id, for operators.
  package func device(_ id: String) async throws(Failure) -> Device {
    let found: Device?
    do throws(StorageError) {
      found = try await store.device(id: id)
    } catch {
      throw Self.unreadable(error)
    }
    guard let found else { throw Failure(.notFound, "There is no device with this id.") }
    return found
  }

  // MARK: Identifying

  /// Finds the device with a token. If a verified user's token comes with it, the device is bound
  /// to that user permanently.
  package func identify(
    token: String, user: String?
  ) async throws(Failure) -> (device: Device, tokenDigest: String) {
    guard let token = DeviceToken(parsing: token) else { throw Self.unknown }
    let digest = token.digest
    let found = try await find(digest)
    let device =
      found.access == .full
      ? try await bound(found, to: user) : try Self.checked(found, with: user)
    noteUse(of: device, tokenDigest: digest)
    return (device, digest)
  }

  /// Throws ``Model/Failure/Code/readOnly`` for a token that only reads.
  func admitWriting(token: String) async throws(Failure) {
    guard let token = DeviceToken(parsing: token) else { throw Self.unknown }
    guard try await find(token.digest).access == .full else { throw Failure.readOnly }
  }

  /// Fails if the caller's tokens are no longer valid: the device was removed or has a new token,
  /// a token has expired, or the user's account is disabled.
  func confirm(_ caller: Caller) async throws(Failure) {
    try disabled.admit(caller.user)
    if let end = caller.userExpires, end <= clock.now() { throw Failure(TokenFault.expired) }
    if let session = caller.session, session.hasEnded || session.expires <= clock.now() {
      throw Failure(.sessionExpired, "The console's session has ended; sign in again.")
    }
    // It was known here: if it is not any more, the log has removed it.
    if let device = caller.device { _ = try await find(device.tokenDigest, wasKnown: true) }
  }

  /// The time until the first of the caller's tokens expires; nil if none does.
  func lifetime(of caller: Caller) -> Duration? {
    [caller.userExpires, caller.device?.expires, caller.session?.expires].compactMap(\.self).min()
      .map { clock.now().elapsed(until: $0) }
  }

  /// The device of a valid token with this digest.
  ///
  /// - Parameter wasKnown: whether this node has found the token before, so that an unknown one is invalid.
  package func find(
    _ tokenDigest: String, wasKnown: Bool = false
  ) async throws(Failure) -> Device {
    guard settings.isOn else {
      throw Failure(
        .unauthenticated,
        "Devices are switched off (setting `devices.enabled`); send no `Device-Token`.")
    }
    let device = try await load(tokenDigest, wasKnown: wasKnown)
    if let end = device.tokenExpires, end <= clock.now() {
      throw Failure(.unauthenticated, "The device token has expired.")
    }
    try disabled.admit(device.user)
    return device
  }

  private func load(_ tokenDigest: String, wasKnown: Bool) async throws(Failure) -> Device {
    if let known = cache.device(tokenDigest: tokenDigest) { return known }
    let removals = cache.removals
    let found: Device?
    do {
      found = try await store.device(tokenDigest: tokenDigest)
    } catch {
      throw Self.unreadable(error)
    }
    guard let found else {
      throw wasKnown ? Self.unknown : Self.unknownHere(leader, isCutOff: isCutOff())
    }
    cache.keep(found, tokenDigest: tokenDigest, asOf: removals)
    return found
  }

  /// A token that only reads binds its device to no user: otherwise its holder could bind it to
  /// another user than the device's own.
  private static func checked(_ device: Device, with user: String?) throws(Failure) -> Device {
    guard let user, let owner = device.user, !owner.equalsExactly(user) else { return device }
    throw ofAnotherUser
  }

  private func bound(_ device: Device, to user: String?) async throws(Failure) -> Device {
    guard let user, device.user?.equalsExactly(user) != true else { return device }
    var owned: Device? = device
    if device.user == nil {
      if let leader { throw leader.need() }
      owned = try await writing { () async throws(StorageError) in
        try await self.store.bind(device: device.id, to: user)
      }
      cache.drop(device: device.id)
    }
    guard let owned else { throw Self.unknown }
    guard owned.user?.equalsExactly(user) == true else { throw Self.ofAnotherUser }
    return owned
  }

  private func noteUse(of device: Device, tokenDigest: String) {
    let now = expiryClock.now()
    guard cache.note(useOf: tokenDigest, at: now, grain: Self.useGrain) else { return }
    if leader != nil {
      // The leader records it when it sees the token.
      guard let current = LeaderRequest.current else { return }
      Task { await current.present() }
      return
    }
    Task { [store, logger] in
      do {
        try await store.touch(device: device.id, at: now)
      } catch {
        logger.warning("the device's last use was not recorded", metadata: ["cause": "\(error)"])
      }
    }
  }

  // MARK: Changing and removing

  package func change(
    _ caller: Caller.Device, _ change: DeviceChange
  ) async throws(Failure) -> Device {
    let changed = try await writing { () async throws(StorageError) in
      try await self.store.change(device: caller.id, change)
    }
    cache.drop(device: caller.id)
    whenChanged()
    guard let changed else { throw Self.unknown }
    return changed
  }

  /// Replaces the device's token. The old one is invalid at once, without a grace period: a token
  /// is rotated because it may have leaked.
  ///
  /// - Returns: the new token.
  package func rotate(_ caller: Caller.Device) async throws(Failure) -> String {
    let token = DeviceToken(random: random)
    let isReplaced = try await writing { () async throws(StorageError) in
      try await self.store.replaceToken(from: caller.tokenDigest, to: token.digest)
    }
    cache.drop(device: caller.id)
    if isReplaced { signal.end(device: caller.id) }
    guard isReplaced else { throw Self.unknown }
    return token.text
  }

  /// Deletes all data stored for the device; the device and its tokens stay. A mutation that is being
  /// sent can still take effect upstream.
  package func reset(_ caller: Caller.Device) async throws(Failure) {
    let report = try await writing { () async throws(StorageError) in
      try await self.store.reset(device: caller.id, at: self.clock.now())
    }
    guard report != nil else { throw Self.unknown }
  }

  /// Removes the device with all data stored for it.
  package func remove(_ caller: Caller.Device) async throws(Failure) {
    guard try await remove(id: caller.id) else { throw Self.unknown }
  }

  /// Removes a device by its id, for an operator.
  ///
  /// - Returns: whether there was such a device.
  package func remove(id: String) async throws(Failure) -> Bool {
    let wasThere = try await writing { () async throws(StorageError) in
      try await self.store.remove(device: id)
    }
    cache.drop(device: id)
    signal.end(device: id)
    whenChanged()
    return wasThere
  }

  // MARK: Tokens that only read

  /// Issues a token of the device that only reads.
  package func issueReadToken(
    to caller: Caller.Device, lifetime: Duration
  ) async throws(Failure) -> (token: DeviceReadToken, text: String) {
    let text = DeviceToken(random: random)
    let now = clock.now()
    let token = DeviceReadToken(
      id: "dt_\(Base64URL.encode(random.bytes(Self.idByteCount)))", made: now,
      expires: now.advanced(by: lifetime))
    let addition = try await writing { () async throws(StorageError) in
      try await self.store.add(
        token, tokenDigest: text.digest, by: caller.tokenDigest, countMax: Self.readTokensMax)
    }
    switch addition {
    case .added: return (token, text.text)
    case .full:
      throw Failure(
        .rateLimited,
        "The device has \(Self.readTokensMax) tokens that only read; delete one, or wait until one "
          + "expires.")
    case .unknown: throw Self.unknown
    }
  }

  /// The device's tokens that only read, the first to expire first.
  package func readTokens(
    of caller: Caller.Device
  ) async throws(Failure) -> [DeviceReadToken] {
    do {
      return try await store.readTokens(of: caller.id)
    } catch {
      throw Self.unreadable(error)
    }
  }

  /// Ends a token that only reads, and with it the device's open streams, of which one can be the
  /// token's; the others are opened again.
  package func removeReadToken(_ id: String, of caller: Caller.Device) async throws(Failure) {
    let wasThere = try await writing { () async throws(StorageError) in
      try await self.store.removeReadToken(id, of: caller.id)
    }
    guard wasThere else { throw Failure(.notFound, "The device has no token of this id.") }
    cache.drop(device: caller.id)
    signal.end(device: caller.id)
  }

  // MARK: Expiry

  /// Sets aside devices unused for too long, and removes those set aside for a week; a limited
  /// number of each per call. A device used in the meantime is restored. A device with unfinished
  /// mutations or rows of local types is kept, which is logged. Also removes expired tokens.
  package func expire() async throws(StorageError) {
    let now = expiryClock.now()
    _ = try await store.removeReadTokens(expiredAt: now, limit: Self.expiredTokensMax)
    let found = try await store.setAsideDevices(
      unusedSince: now.advanced(by: .zero - settings.expiry), at: now, limit: Self.expiredMax)
    if found.aside > 0 {
      logger.notice(
        "unused devices were set aside; they are removed in a week unless they are used",
        metadata: ["count": "\(found.aside)"])
    }
    if found.kept != keptCount.exchange(found.kept, ordering: .relaxed), found.kept > 0 {
      logger.warning(
        "unused devices are kept: they hold unfinished mutations or local data",
        metadata: [
          "count": "\(found.kept)", "unused": "\(settings.expiry.wholeSeconds / 86_400) days",
        ])
    }
    try await removeExpired(at: now)
  }

  private func removeExpired(at now: Timestamp) async throws(StorageError) {
    let moment = now.advanced(by: .zero - Self.asideFor)
    let expired = try await store.devicesSetAside(before: moment, limit: Self.expiredMax)
    guard !expired.isEmpty else { return }
    var removed: [String] = []
    defer {
      // Also for devices removed before the store failed.
      cache.dropAll()
      for id in removed { signal.end(device: id) }
      whenChanged()
    }
    for id in expired where try await store.remove(device: id, setAsideBefore: moment) {
      removed.append(id)
    }
    logger.notice(
      "unused devices were removed", metadata: ["count": .stringConvertible(removed.count)])
  }

  // MARK: Replicas

  /// Drops the cached devices, because the log has changed devices or their tokens, and ends the streams of
  /// those whose token is no longer valid.
  package func noteApplied() async {
    let known = cache.dropAll()
    let listening = signal.devices
    for (digest, device) in known where listening.contains(device) {
      let removals = cache.removals
      guard let found = try? await store.device(tokenDigest: digest) else {
        signal.end(device: device)
        continue
      }
      cache.keep(found, tokenDigest: digest, asOf: removals)
    }
    // Their tokens are not known here: they open their streams again.
    let cached = Set(known.map(\.device))
    for device in listening.subtracting(cached) where device.hasPrefix("d_") {
      signal.end(device: device)
    }
  }

  private func writing<Value: Sendable>(
    _ write: () async throws(StorageError) -> Value
  ) async throws(Failure) -> Value {
    do throws(StorageError) {
      return try await write()
    } catch {
      throw Failure(
        .storageUnavailable, "The database cannot be written; retry later.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  private static func unreadable(_ error: StorageError) -> Failure {
    Failure(
      .storageUnavailable, "The database cannot be read; retry later.", retry: .after,
      retryAfter: .seconds(1), cause: "\(error)")
  }
}
