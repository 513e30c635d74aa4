package import Logging
import LosslessJSON
package import Model
package import Push
package import Storage
import Synchronization

/// Notifications, as clients and operators use them.
///
/// What is answered is on disk. The outbox empties by itself; nothing here sends.
package final class PushService: Sendable {
  /// Who may send.
  package enum Senders: Sendable {
    /// Signed-in users, and the operator.
    case users
    case admin
  }

  /// Notifications of one page of a list.
  package static let pageMax = 200
  private static let operatorsOrigin = "operator"
  private static let usersOrigin = "user "

  private let store: Store
  private let senders: Senders
  private let throttle: AttemptThrottle
  private let surroundings: PushEnvironment
  private let isAdminOn: Bool
  private let maker: NotificationMaker
  private let bell: AsyncSignal
  private let worker: PushWorker
  private let teller: RegistrationSync
  private let rules: RuleReader
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// - Parameter sendsPerMinute: of one user.
  package init(
    store: Store, sender: any PushSender, senders: Senders, sendsPerMinute: Int, isAdminOn: Bool,
    rules: [PushRule], surroundings: PushEnvironment, logger: Logger,
    makeID: @escaping @Sendable () -> String
  ) {
    self.store = store
    self.senders = senders
    self.surroundings = surroundings
    throttle = AttemptThrottle(perMinute: sendsPerMinute)
    self.isAdminOn = isAdminOn
    maker = NotificationMaker(
      userIDsMax: sender.userIDsMax, surroundings: surroundings, makeID: makeID)
    bell = AsyncSignal(sleep: surroundings.sleep)
    let line = PushAvailability(bell: bell, surroundings: surroundings, logger: logger)
    worker = PushWorker(
      store: store, sender: sender, surroundings: surroundings, bell: bell, line: line,
      logger: logger)
    teller = RegistrationSync(
      store: store, sender: sender, surroundings: surroundings, bell: bell, line: line,
      logger: logger)
    self.rules = RuleReader(
      store: store, rules: rules, maker: maker, surroundings: surroundings, outbox: bell,
      logger: logger)
  }

  // MARK: Life

  /// To be called before anybody can write: rules tell of all that is written from here on.
  package func prepare() async {
    await rules.prepare()
  }

  /// Finds what the last process left, and begins to send.
  package func start() {
    tasks.withLock {
      $0 = [
        Task.detached { [worker] in await worker.run() },
        Task.detached { [teller] in await teller.run() },
        Task.detached { [rules] in await rules.run() },
      ]
    }
  }

  /// Begins nothing more, cuts off what waits for an answer, and returns once all has ended.
  package func end() async {
    let tasks = tasks.withLock { $0 }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// A commit is visible: rules may have something to say of it.
  package func note(_ report: CommitReport) {
    rules.note(report)
  }

  /// A device has another push token, or is gone: its registration follows it on disk, and the
  /// sender is to be told.
  package func noteDevices() {
    bell.ring()
  }

  // MARK: Registering

  /// Has the signed-in user reached on the device that asks.
  package func register(_ caller: Caller) async throws(Failure) -> [UInt8] {
    let device = try Self.device(of: caller)
    let receipt = try await writing { () async throws(StorageError) in
      try await store.registerForPush(device: device)
    }
    switch receipt {
    case .kept(let registration):
      bell.ring()
      return Self.document(registration).bytes
    case .lacksToken:
      throw Failure(
        .pushTokenMissing,
        "The device has no push token: set pushToken by PATCH /v1/devices/me first.")
    case .deviceGone: throw Failure(.unauthenticated, "The device token is not known here.")
    }
  }

  package func registration(of caller: Caller) async throws(Failure) -> [UInt8] {
    let device = try Self.device(of: caller)
    let found = try await reading { () async throws(StorageError) in
      try await store.pushRegistration(of: device)
    }
    guard let found else {
      throw Failure(.notFound, "Nobody is registered for notifications on this device.")
    }
    return Self.document(found).bytes
  }

  package func unregister(_ caller: Caller) async throws(Failure) {
    try await unregister(device: Self.device(of: caller))
  }

  /// Also when a user signs out.
  package func unregister(device: String) async throws(Failure) {
    try await writing { () async throws(StorageError) in
      try await store.unregisterFromPush(device: device)
    }
    bell.ring()
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
      throw Failure(.signInRequired, "Notifications are for signed-in users.")
    }
    guard let device = caller.device else {
      throw Failure(.unauthenticated, "This route takes a device's token in Device-Token too.")
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
    if let wait = throttle.take(.init(user), at: surroundings.now) {
      throw Failure(
        .rateLimited, "There were too many notifications of yours within a minute.",
        retry: .sameKey, retryAfter: wait)
    }
    do throws(Failure) {
      let answer = try await take(request, key: key, from: user)
      // Sent once, however often it is asked for.
      if answer.isReplay { throttle.giveBack(.init(user), at: surroundings.now) }
      return answer
    } catch {
      throttle.giveBack(.init(user), at: surroundings.now)
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
      try await store.take(arrival)
    }
    switch receipt {
    case .taken:
      bell.ring()
      return Self.answer(arrival.id, isReplay: false)
    case .replayed(let id): return Self.answer(id, isReplay: true)
    case .keyReused:
      throw Failure(
        .idempotencyKeyReused, "The Idempotency-Key was used for another notification.",
        retry: .newKey)
    case .outboxFull:
      throw Failure(
        .outboxFull, "As many notifications wait for the sender as may.", retry: .sameKey,
        retryAfter: .seconds(30))
    }
  }

  /// For those who ask before they read a request.
  package func requireSender(_ caller: Caller) throws(Failure) {
    _ = try admit(caller)
  }

  /// What became of a notification. Users see those that they sent themselves.
  package func notification(_ id: String, by caller: Caller) async throws(Failure) -> [UInt8] {
    let origin = try admit(caller)
    let found = try await reading { () async throws(StorageError) in
      try await store.notification(id, origin: origin)
    }
    guard let found else { throw Self.unknown }
    return try NotificationDocument.bytes(found)
  }

  /// The newest first, for operators.
  ///
  /// - Parameter last: the last one of the page before.
  package func notifications(after last: String?, limit: Int) async throws(Failure) -> [UInt8] {
    let page = try await reading { () async throws(StorageError) in
      try await store.notifications(after: last, limit: limit)
    }
    guard let page else { throw Self.unknown }
    return NotificationDocument.bytes(page, limit: limit)
  }

  /// - Returns: the origin that the caller's notifications have; nil for the operator, who sees all.
  private func admit(_ caller: Caller) throws(Failure) -> String? {
    if caller.isAdmin { return nil }
    if let user = caller.user {
      guard senders == .users else {
        throw Failure(.forbidden, "Notifications are sent by the operator alone here.")
      }
      return Self.usersOrigin + user
    }
    if senders == .users {
      throw Failure(.signInRequired, "Notifications are sent by signed-in users.")
    }
    throw Failure(
      .unauthenticated,
      isAdminOn
        ? "This takes the admin token." : "Settings hold no admin.token, which this takes.")
  }

  private static var unknown: Failure {
    Failure(.notificationNotFound, "There is no such notification.")
  }

  private static func answer(_ id: String, isReplay: Bool) -> NotificationStatus {
    let body: JSONValue = ["id": .string(id)]
    return NotificationStatus(id: id, body: body.bytes, isReplay: isReplay)
  }

  // MARK: The store

  private func writing<Answer>(
    _ write: () async throws(StorageError) -> Answer
  ) async throws(Failure) -> Answer {
    do throws(StorageError) {
      return try await write()
    } catch {
      throw Failure(
        .storageUnavailable, "Nothing can be stored at present, and nothing was taken.",
        retry: .sameKey, retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  private func reading<Answer>(
    _ read: () async throws(StorageError) -> Answer
  ) async throws(Failure) -> Answer {
    do throws(StorageError) {
      return try await read()
    } catch {
      throw Failure(
        .storageUnavailable, "The outbox cannot be read at present.", retry: .after,
        cause: "\(error)")
    }
  }
}
