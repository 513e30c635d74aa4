package import Logging
import LosslessJSON
package import Model
package import Storage
import Synchronization
import Transport

/// The notification service for clients and operators.
///
/// Every accepted notification is on disk before the response. Nothing is sent here: the workers
/// empty the outbox.
package final class PushService: Sendable {
  /// Who can send notifications.
  package enum Senders: Sendable {
    /// Signed-in users, and the operator.
    case users
    case admin
  }

  /// Maximum notifications per page of a list.
  package static let pageMax = 200
  private static let operatorsOrigin = "operator"
  private static let usersOrigin = "user "

  private let store: Store
  private let senders: Senders
  private let throttle: AttemptThrottle
  private let environment: PushEnvironment
  private let isAdminOn: Bool
  private let maker: NotificationMaker
  private let signal: AsyncSignal
  private let worker: PushWorker
  private let registrationSync: RegistrationSync
  private let rules: RuleReader
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// - Parameter sendsPerMinute: the rate limit of one user.
  package init(
    store: Store, sender: any PushSender, senders: Senders, sendsPerMinute: Int, isAdminOn: Bool,
    rules: [PushRule], environment: PushEnvironment, logger: Logger,
    makeID: @escaping @Sendable () -> String
  ) {
    self.store = store
    self.senders = senders
    self.environment = environment
    throttle = AttemptThrottle(perMinute: sendsPerMinute)
    self.isAdminOn = isAdminOn
    maker = NotificationMaker(
      userIDsMax: sender.userIDsMax, environment: environment, makeID: makeID)
    let signal = AsyncSignal(sleep: environment.sleep)
    self.signal = signal
    let availability = PushAvailability(signal: signal, environment: environment, logger: logger)
    func loop(_ storeFailure: Logger.Message) -> DeliveryLoop {
      DeliveryLoop(
        environment: environment, signal: signal, availability: availability, logger: logger,
        storeFailure: storeFailure)
    }
    worker = PushWorker(
      store: store, sender: sender, loop: loop("the outbox could not be read or written"))
    registrationSync = RegistrationSync(
      store: store, sender: sender,
      loop: loop("push registrations could not be read or written"))
    self.rules = RuleReader(
      store: store, rules: rules, maker: maker, environment: environment, outbox: signal,
      logger: logger)
  }

  // MARK: Lifecycle

  /// Prepares the rules; call it before anything can be written. Rules apply to everything written
  /// from then on.
  package func prepare() async {
    await rules.prepare()
  }

  /// Recovers the last process's outbox, and starts sending.
  package func start() {
    tasks.withLock {
      $0 = [
        Task.detached { [worker] in await worker.run() },
        Task.detached { [registrationSync] in await registrationSync.run() },
        Task.detached { [rules] in await rules.run() },
      ]
    }
  }

  /// Starts nothing more, cancels calls in progress, and returns once all tasks have ended.
  package func end() async {
    let tasks = tasks.withLock { $0 }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// Passes a visible commit to the rules.
  package func note(_ report: CommitReport) {
    rules.note(report)
  }

  /// Wakes the workers after a device's push token was changed or the device was removed: its
  /// registration follows on disk, and the sender must be informed.
  package func noteDevices() {
    signal.notify()
  }

  // MARK: Registering

  /// Registers the signed-in user for notifications on the caller's device.
  package func register(_ caller: Caller) async throws(Failure) -> [UInt8] {
    let device = try Self.device(of: caller)
    let receipt = try await writing { () async throws(StorageError) in
      try await store.registerForPush(device: device)
    }
    switch receipt {
    case .kept(let registration):
      signal.notify()
      return Self.document(registration).bytes
    case .lacksToken:
      throw Failure(
        .pushTokenMissing,
        "The device has no push token; set pushToken with PATCH /v1/devices/me first.")
    case .deviceGone: throw Failure(.unauthenticated, "The device token is unknown.")
    }
  }

  package func registration(of caller: Caller) async throws(Failure) -> [UInt8] {
    let device = try Self.device(of: caller)
    let found = try await reading { () async throws(StorageError) in
      try await store.pushRegistration(of: device)
    }
    guard let found else {
      throw Failure(.notFound, "No user is registered for notifications on this device.")
    }
    return Self.document(found).bytes
  }

  package func unregister(_ caller: Caller) async throws(Failure) {
    try await unregister(device: Self.device(of: caller))
  }

  /// Removes the device's registration; also called when a user signs out.
  package func unregister(device: String) async throws(Failure) {
    try await writing { () async throws(StorageError) in
      try await store.unregisterFromPush(device: device)
    }
    signal.notify()
  }

  private static func document(_ registration: PushRegistration) -> JSONValue {
    var document: JSONValue = [
      "userId": .string(registration.user), "state": .string(registration.state.rawValue),
    ]
    if let reason = registration.reason { document["reason"] = .string(reason) }
    return document
  }

  private static func device(of caller: Caller) throws(Failure) -> String {
    guard caller.user != nil else {
      throw Failure(.signInRequired, "Notifications require a signed-in user.")
    }
    guard let device = caller.device else {
      throw Failure(.unauthenticated, "This route also requires a device token in Device-Token.")
    }
    return device.id
  }

  // MARK: Sending

  package func send(
    _ request: NotificationRequest, key: String, by caller: Caller
  ) async throws(Failure) -> NotificationStatus {
    guard let user = try admit(caller) else {
      return try await take(request, key: key, from: Self.operatorsOrigin)
    }
    if let wait = throttle.take(.init(user), at: environment.now) {
      throw Failure(
        .rateLimited, "You sent too many notifications within a minute; retry later.",
        retry: .sameKey, retryAfter: wait)
    }
    do throws(Failure) {
      let status = try await take(request, key: key, from: user)
      // A replay sends nothing, so it does not count.
      if status.isReplay { throttle.giveBack(.init(user), at: environment.now) }
      return status
    } catch {
      throttle.giveBack(.init(user), at: environment.now)
      throw error
    }
  }

  private func take(
    _ request: NotificationRequest, key: String, from origin: String
  ) async throws(Failure) -> NotificationStatus {
    let arrival = try maker.arrival(
      of: PushMessage(
        text: request.text, heading: request.heading, chatID: request.chatID, data: request.data),
      to: request.userIDs, origin: origin, key: key, content: request.canonicalText)
    let receipt = try await writing { () async throws(StorageError) in
      try await store.enqueue(arrival)
    }
    switch receipt {
    case .taken:
      signal.notify()
      return Self.status(arrival.id, isReplay: false)
    case .replayed(let id): return Self.status(id, isReplay: true)
    case .keyReused:
      throw Failure(
        .idempotencyKeyReused, "The Idempotency-Key was already used for another notification.",
        retry: .newKey)
    case .outboxFull:
      throw Failure(
        .outboxFull, "The notification outbox is full; retry later.", retry: .sameKey,
        retryAfter: .seconds(30))
    }
  }

  /// Checks whether the caller can send, before the request is read.
  package func requireSender(_ caller: Caller) throws(Failure) {
    _ = try admit(caller)
  }

  /// A notification with its outcomes. Users see only their own notifications.
  package func notification(_ id: String, by caller: Caller) async throws(Failure) -> [UInt8] {
    let origin = try admit(caller)
    let found = try await reading { () async throws(StorageError) in
      try await store.notification(id, origin: origin)
    }
    guard let found else { throw Self.unknown }
    return try NotificationDocument.bytes(found)
  }

  /// A page of all notifications, newest first, for operators.
  ///
  /// - Parameter last: the id of the previous page's last notification.
  package func notifications(after last: String?, limit: Int) async throws(Failure) -> [UInt8] {
    let page = try await reading { () async throws(StorageError) in
      try await store.notifications(after: last, limit: limit)
    }
    guard let page else { throw Self.unknown }
    return NotificationDocument.bytes(page, limit: limit)
  }

  /// - Returns: the origin of the caller's notifications; nil for the operator, who sees all.
  private func admit(_ caller: Caller) throws(Failure) -> String? {
    if caller.isAdmin { return nil }
    if let user = caller.user {
      guard senders == .users else {
        throw Failure(.forbidden, "Only the operator can send notifications.")
      }
      return Self.usersOrigin + user
    }
    if senders == .users {
      throw Failure(.signInRequired, "Sending notifications requires a signed-in user.")
    }
    throw Failure(
      .unauthenticated,
      isAdminOn
        ? "This requires the admin token."
        : "This requires the admin token, but the setting admin.token is not set.")
  }

  private static var unknown: Failure {
    Failure(.notificationNotFound, "The notification does not exist.")
  }

  private static func status(_ id: String, isReplay: Bool) -> NotificationStatus {
    let body: JSONValue = ["id": .string(id)]
    return NotificationStatus(id: id, body: body.bytes, isReplay: isReplay)
  }

  // MARK: The store

  private func writing<Value>(
    _ write: () async throws(StorageError) -> Value
  ) async throws(Failure) -> Value {
    do throws(StorageError) {
      return try await write()
    } catch {
      throw Failure(
        .storageUnavailable, "The database cannot be written; nothing was accepted. Retry later.",
        retry: .sameKey, retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  private func reading<Value>(
    _ read: () async throws(StorageError) -> Value
  ) async throws(Failure) -> Value {
    do throws(StorageError) {
      return try await read()
    } catch {
      throw Failure(
        .storageUnavailable, "The outbox cannot be read; retry later.", retry: .after,
        cause: "\(error)")
    }
  }
}
