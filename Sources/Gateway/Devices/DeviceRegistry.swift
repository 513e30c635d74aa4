import Accounts
package import Logging
package import Model
package import Storage
import Synchronization

/// Devices: who they are by their token, and their coming and going.
///
/// A changed or revoked token counts at once: before that is answered the cache forgets it and what
/// is open in the device's name is told to end.
package final class DeviceRegistry: Sendable {
  /// A device that has just come, with the one showing of its token.
  package struct Registered: Sendable {
    package let device: Device
    package let token: String
  }

  private static let idByteCount = 16
  /// How exactly the store knows when a device was last used.
  private static let useGrain = Duration.seconds(3_600)
  /// Devices that are set aside or removed in one round.
  private static let expiredMax = 100
  /// How long a device that nobody uses is kept after it has expired.
  package static let asideFor = Duration.seconds(7 * 86_400)

  private let store: Store
  private let settings: DeviceSettings
  private let clock: WallClock
  /// What devices expire by.
  private let expiryClock: WallClock
  private let random: RandomBytes
  private let signal: CommitSignal
  private let logger: Logger
  private let cache = DeviceCache()
  private let throttle: AttemptThrottle
  private let whenChanged: @Sendable () -> Void
  /// Unused devices that were kept for what they hold, when that was last logged.
  private let keptCount = Atomic(0)

  /// - Parameters:
  ///   - expiryClock: of the time that devices expire by, see ``TrustedClock``; nil for `clock`.
  ///   - whenChanged: told after a device has changed on disk, or gone.
  package init(
    store: Store, settings: DeviceSettings, clock: WallClock, expiryClock: WallClock? = nil,
    random: RandomBytes, signal: CommitSignal, logger: Logger,
    whenChanged: @escaping @Sendable () -> Void = {}
  ) {
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

  // MARK: Coming

  /// - Parameter network: the client's; many clients may share one.
  package func register(
    _ registration: DeviceRegistration, by caller: Caller, from network: ClientNetwork
  ) async throws(Failure) -> Registered {
    try admit(caller, from: network)
    let token = DeviceToken(random: random)
    let now = expiryClock.now()
    let device = Device(
      id: "d_\(Base64URL.encode(random.bytes(Self.idByteCount)))", platform: registration.platform,
      name: registration.name, pushToken: registration.pushToken, user: caller.user,
      registered: now, lastUsed: now)
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
        throw Failure(.signInRequired, "Devices are registered by signed-in users here.")
      }
    case .admin:
      throw Failure(.unauthenticated, "Devices are registered with the admin token here.")
    }
    let names =
      network.attemptNames
      + ((caller.user ?? caller.subject).map { [.init("caller \($0)")] } ?? [])
    if let wait = throttle.take(names, at: clock.now()) {
      throw Failure(
        .rateLimited, "Too many devices were registered from here within a minute.",
        retry: .after, retryAfter: wait)
    }
  }

  // MARK: Asking

  /// The device that presents a token. It becomes the user's whose verified token comes with it,
  /// and no other's after that.
  package func identify(
    token: String, user: String?
  ) async throws(Failure) -> (device: Device, tokenDigest: String) {
    guard let token = DeviceToken(parsing: token) else { throw Self.unknown }
    let digest = token.digest
    let device = try await bound(try await find(digest), to: user, tokenDigest: digest)
    noteUse(of: device, tokenDigest: digest)
    return (device, digest)
  }

  /// Fails as the caller's tokens would now: where its device has gone or has another token since, or
  /// its user's token has expired.
  func confirm(_ caller: Caller) async throws(Failure) {
    if let left = lifetime(of: caller), left <= .zero { throw Failure(TokenFault.expired) }
    if let device = caller.device { _ = try await find(device.tokenDigest) }
  }

  /// How long until the caller's user's token expires; nil without one.
  func lifetime(of caller: Caller) -> Duration? {
    caller.userExpires.map { clock.now().elapsed(until: $0) }
  }

  /// The device whose token has this digest now.
  package func find(_ tokenDigest: String) async throws(Failure) -> Device {
    if let known = cache.device(tokenDigest: tokenDigest) { return known }
    let droppings = cache.droppings
    let found: Device?
    do {
      found = try await store.device(tokenDigest: tokenDigest)
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be read at present.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
    guard let found else { throw Self.unknown }
    cache.keep(found, tokenDigest: tokenDigest, asOf: droppings)
    return found
  }

  private func bound(
    _ device: Device, to user: String?, tokenDigest: String
  ) async throws(Failure) -> Device {
    guard let user, device.user?.equalsExactly(user) != true else { return device }
    var owned: Device? = device
    if device.user == nil {
      owned = try await writing { () async throws(StorageError) in
        try await self.store.bind(device: device.id, to: user)
      }
      cache.drop(tokenDigest: tokenDigest)
    }
    guard let owned else { throw Self.unknown }
    guard owned.user?.equalsExactly(user) == true else { throw Self.ofAnotherUser }
    return owned
  }

  private func noteUse(of device: Device, tokenDigest: String) {
    let now = expiryClock.now()
    guard cache.note(useOf: tokenDigest, at: now, grain: Self.useGrain) else { return }
    Task { [store, logger] in
      do {
        try await store.touch(device: device.id, at: now)
      } catch {
        logger.warning("a device's use was not noted", metadata: ["cause": "\(error)"])
      }
    }
  }

  // MARK: Changing and going

  package func change(
    _ caller: Caller.Device, _ change: DeviceChange
  ) async throws(Failure) -> Device {
    let changed = try await writing { () async throws(StorageError) in
      try await self.store.change(device: caller.id, change)
    }
    cache.drop(tokenDigest: caller.tokenDigest)
    whenChanged()
    guard let changed else { throw Self.unknown }
    return changed
  }

  /// Gives the device another token. The old one ends at once, without a grace: a token is
  /// rotated because somebody else may have it.
  ///
  /// - Returns: the new token.
  package func rotate(_ caller: Caller.Device) async throws(Failure) -> String {
    let token = DeviceToken(random: random)
    let isReplaced = try await writing { () async throws(StorageError) in
      try await self.store.replaceToken(from: caller.tokenDigest, to: token.digest)
    }
    cache.drop(tokenDigest: caller.tokenDigest)
    if isReplaced { signal.end(device: caller.id) }
    guard isReplaced else { throw Self.unknown }
    return token.text
  }

  /// Removes the device with everything that is stored for it alone.
  package func remove(_ caller: Caller.Device) async throws(Failure) {
    let wasThere = try await writing { () async throws(StorageError) in
      try await self.store.remove(device: caller.id)
    }
    cache.drop(tokenDigest: caller.tokenDigest)
    signal.end(device: caller.id)
    whenChanged()
    guard wasThere else { throw Self.unknown }
  }

  /// Sets devices aside that nobody has used for too long, and removes those that stayed so for a week
  /// more; some of each at a time. A device that is used meanwhile is as it was before. One that holds
  /// unfinished mutations or rows of local types stays, which is logged.
  package func expire() async throws(StorageError) {
    let now = expiryClock.now()
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
      // Also for those that went before the store failed.
      cache.dropAll()
      for id in removed { signal.end(device: id) }
      whenChanged()
    }
    for id in expired where try await store.remove(device: id, setAsideBefore: moment) {
      removed.append(id)
    }
    logger.notice("unused devices were removed", metadata: ["count": "\(removed.count)"])
  }

  private func writing<Answer: Sendable>(
    _ write: () async throws(StorageError) -> Answer
  ) async throws(Failure) -> Answer {
    do throws(StorageError) {
      return try await write()
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be written at present.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  /// Of a device that somebody else signed in with before.
  static var ofAnotherUser: Failure {
    Failure(
      .deviceOfAnotherUser,
      "This device token belongs to another user. Register a new device for this one.")
  }

  private static var unknown: Failure {
    Failure(.unauthenticated, "The device token is not known here.")
  }
}
