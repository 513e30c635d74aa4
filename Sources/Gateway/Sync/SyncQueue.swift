package import Logging
import LosslessJSON
package import Model
package import Sealing
package import Storage
import Synchronization
package import Upstream

/// The sync queue of each device, as its clients use it.
///
/// What is answered is on disk. The queue drains by itself; nothing here sends.
package final class SyncQueue: Sendable {
  /// Mutations of one page of a list.
  package static let pageMax = 200

  package let worker: QueueWorker
  private let store: Store
  private let drafter: MutationValidator
  private let callers: QueuedCaller
  private let devices: DeviceRegistry
  private let surroundings: QueueEnvironment
  private let cursors: CursorIssuer
  private let signal: CommitSignal
  private let logger: Logger
  private let refusals: RefusedCredentials
  /// Credentials that are being taken over, by device.
  private let renewals = Mutex<[String: Task<Void, Never>]>([:])
  private let makeID: @Sendable () -> String

  package init(
    store: Store, registry: OperationRegistry, localTypes: Set<String>, upstream: UpstreamClient,
    calls: CallSequence, epoch: MutationEpoch, pulse: UpstreamPulse, cursors: CursorIssuer,
    devices: DeviceRegistry, signal: CommitSignal, sealer: Sealer, surroundings: QueueEnvironment,
    concurrencyMax: Int, transientCodes: Set<String>, clock: WallClock, logger: Logger,
    makeID: @escaping @Sendable () -> String
  ) {
    self.store = store
    self.devices = devices
    self.surroundings = surroundings
    self.cursors = cursors
    self.signal = signal
    self.logger = logger
    self.makeID = makeID
    callers = QueuedCaller(sealer: sealer)
    drafter = MutationValidator(registry: registry, localTypes: localTypes, sealer: sealer) {
      MutationID("m_\(makeID())")
    }
    let refusals = RefusedCredentials()
    self.refusals = refusals
    worker = QueueWorker(
      store: store,
      sender: MutationSender(
        registry: registry, upstream: upstream, calls: calls, head: { [store] in store.head },
        pulse: pulse, callers: callers,
        transientCodes: transientCodes, clock: clock),
      surroundings: surroundings, epoch: epoch, concurrencyMax: concurrencyMax, logger: logger,
      refused: { refusals.note($0, refused: $1) })
    pulse.observe { [weak worker] in worker?.noteWork(of: $0) }
  }

  // MARK: Handing over

  /// Takes lazy and steady mutations, all or none.
  ///
  /// - Parameter requests: with their idempotency keys.
  package func enqueue(
    _ requests: [(request: MutationRequest, key: String)], by caller: Caller
  ) async throws(Failure) -> [MutationStatus] {
    let device = try Self.device(of: caller)
    let receipts = try await take(requests, device: device, by: caller)
    let cursor = cursors.cursor(for: caller.viewer)
    return receipts.map { Self.answer($0, cursor: cursor) }
  }

  /// Takes a forced mutation and waits for what comes of it. The caller's going away changes
  /// nothing.
  ///
  /// - Parameter key: nil where the caller does not mean to repeat it.
  package func force(
    _ request: MutationRequest, key: String?, by caller: Caller
  ) async throws(Failure) -> ForcedStatus {
    let device = try Self.device(of: caller)
    // Registered first: an end that comes between the two is not missed.
    let listener = try await listen(as: caller, device: device)
    defer { signal.remove(listener) }
    let key = key ?? makeID()
    let receipts = try await take([(request, key)], device: device, by: caller)
    guard let receipt = receipts.first else { throw Failure(.internal, "Nothing was taken.") }
    let record = try await end(
      of: receipt.mutation.id, device: device, caller: caller, listener: listener,
      within: surroundings.policy.forceDeadline + surroundings.policy.answerDeadline)
    return try ForcedOutcome(record, receipt: receipt, cursor: cursors.cursor(for: caller.viewer))
      .answer()
  }

  private func take(
    _ requests: [(request: MutationRequest, key: String)], device: String, by caller: Caller
  ) async throws(Failure) -> [MutationReceipt] {
    let arrivals = try drafter.arrivals(requests, caller: caller, device: device)
    let result: Result<QueueCommit<[MutationReceipt]>, ArrivalRefusal>
    do throws(StorageError) {
      result = try await store.enqueue(arrivals, of: device, timing: surroundings.timing)
    } catch {
      throw Failure(
        .storageUnavailable, "The mutation could not be stored; nothing was taken.",
        retry: .sameKey,
        retryAfter: .seconds(5), cause: "\(error)")
    }
    switch result {
    case .success(let commit):
      worker.note(commit.outlook, of: device)
      if commit.needsCredential {
        refusals.note(device)
        notePresence(of: caller)
      }
      return commit.answer
    case .failure(let refusal):
      throw Failure(refusal, pointers: requests.map(\.request.pointer))
    }
  }

  private static func answer(_ receipt: MutationReceipt, cursor: [UInt8]) -> MutationStatus {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("id")
    writer.string(receipt.mutation.id.value)
    writer.name("state")
    writer.string(receipt.mutation.state.rawValue)
    writer.name("mode")
    writer.string(receipt.mutation.mode.rawValue)
    if let other = receipt.supersedes {
      writer.name("supersedes")
      writer.string(other.value)
    }
    writer.name("cursor")
    writer.string(String(decoding: cursor, as: UTF8.self))
    writer.endObject()
    return MutationStatus(
      id: receipt.mutation.id, body: writer.bytes, isReplay: receipt.isReplay)
  }

  // MARK: Waiting

  /// For as long as the tokens are good that the caller came with. Asked again after registering: who
  /// went in between would not be told of it.
  private func listen(
    as caller: Caller, device: String
  ) async throws(Failure) -> ChangeListener {
    let listener = signal.listen(
      as: Viewer(layers: [.device(device)]), device: device, lifetime: devices.lifetime(of: caller))
    do throws(Failure) {
      try await devices.confirm(caller)
    } catch {
      signal.remove(listener)
      throw error
    }
    return listener
  }

  /// A mutation's record once nothing more comes of it by itself, or when the wait is over.
  private func end(
    of id: MutationID, device: String, caller: Caller, listener: ChangeListener,
    within wait: Duration
  ) async throws(Failure) -> MutationRecord {
    let alarm = signal.alarm(listener, after: wait)
    defer { alarm.cancel() }
    while true {
      let record = try await record(id, device: device)
      if record.hasEnded(at: surroundings.now) { return record }
      let wakes = await listener.next()
      if wakes.contains(.end) { try await devices.confirm(caller) }
      if !wakes.isDisjoint(with: [.alarm, .end]) {
        return try await self.record(id, device: device)
      }
    }
  }

  private func record(_ id: MutationID, device: String) async throws(Failure) -> MutationRecord {
    let found = try await reading { () async throws(StorageError) in
      try await store.mutation(id, of: device)
    }
    guard let found else { throw Self.unknown }
    return found
  }

  // MARK: Asking

  /// - Parameter wait: how long to hold the answer back for the mutation's end.
  package func mutation(
    _ id: String, wait: Duration, by caller: Caller
  ) async throws(Failure) -> [UInt8] {
    let device = try Self.device(of: caller)
    guard wait > .zero else {
      return MutationDocument.bytes(
        try await record(MutationID(id), device: device), withResponse: true)
    }
    let listener = try await listen(as: caller, device: device)
    defer { signal.remove(listener) }
    let record = try await end(
      of: MutationID(id), device: device, caller: caller, listener: listener, within: wait)
    return MutationDocument.bytes(record, withResponse: true)
  }

  /// The newest first.
  ///
  /// - Parameter after: the id of the last one of the page before.
  package func mutations(
    states: [MutationState]?, after: String?, limit: Int, by caller: Caller
  ) async throws(Failure) -> [UInt8] {
    let device = try Self.device(of: caller)
    var before: Int64?
    if let after { before = try await record(MutationID(after), device: device).mutation.sequence }
    return try await list(states: states, before: before, limit: limit, of: device)
  }

  private func list(
    states: [MutationState]?, before: Int64?, limit: Int, of device: String
  ) async throws(Failure) -> [UInt8] {
    let records = try await reading { () async throws(StorageError) in
      try await store.mutations(of: device, states: states, before: before, limit: limit)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for record in records { writer.raw(MutationDocument.bytes(record, withResponse: false)) }
    writer.endArray()
    if records.count == limit, let last = records.last {
      writer.name("next")
      writer.string(last.mutation.id.value)
    }
    writer.endObject()
    return writer.bytes
  }

  package func status(by caller: Caller) async throws(Failure) -> QueueStatus {
    try await status(of: Self.device(of: caller))
  }

  package func status(of device: String) async throws(Failure) -> QueueStatus {
    try await reading { () async throws(StorageError) in
      try await store.queueStatus(of: device)
    }
  }

  /// Devices whose queue holds something, behind `after`, for operators.
  package func queues(
    after: String
  ) async throws(Failure) -> [OperatedQueue] {
    let devices = try await reading { () async throws(StorageError) in
      try await store.queueDevices(after: after, limit: Self.pageMax)
    }
    var queues: [OperatedQueue] = []
    for device in devices {
      let reasons = try await reading { () async throws(StorageError) in
        try await store.parkedReasons(of: device)
      }
      queues.append(
        OperatedQueue(device: device, status: try await status(of: device), reasons: reasons))
    }
    return queues
  }

  /// What a device's queue holds, for operators.
  package func mutations(of device: String) async throws(Failure) -> [UInt8] {
    try await list(
      states: [.queued, .inflight, .parked], before: nil, limit: Self.pageMax, of: device)
  }

  // MARK: Commands

  /// - Returns: the mutation that the command was about, as its client is told of it.
  package func perform(
    _ command: QueueCommand, by caller: Caller
  ) async throws(Failure) -> [UInt8]? {
    try await perform(command, on: Self.device(of: caller))
  }

  /// As an operator; or when a user signs out.
  package func perform(
    _ command: QueueCommand, on device: String
  ) async throws(Failure) -> [UInt8]? {
    // The request itself may have brought the credential that the queue waits for.
    await renewals.withLock { $0[device] }?.value
    let result: Result<QueueCommit<Mutation?>, CommandRefusal>
    if let id = command.mutation { _ = try await record(id, device: device) }
    do throws(StorageError) {
      result = try await store.command(command, on: device, timing: surroundings.timing)
    } catch {
      throw Failure(
        .storageUnavailable, "The queue cannot be changed at present.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
    switch result {
    case .success(let commit):
      worker.note(commit.outlook, of: device)
      guard let mutation = commit.answer else { return nil }
      return MutationDocument.bytes(
        try await record(mutation.id, device: device), withResponse: true)
    case .failure(let refusal): throw Failure(refusal)
    }
  }

  // MARK: Upkeep

  /// Forgets what has been told of long enough, a few hundred at a time.
  ///
  /// - Parameter now: of the trusted clock: a wall clock that is set forward must not let a key come
  ///   again as a new one.
  /// - Returns: whether there may be more.
  package func forgetEnded(at now: Timestamp) async throws(StorageError) -> Bool {
    try await store.forgetMutations(at: now)
  }

  // MARK: Credentials

  /// A device presented a credential: where upstream refused the last one and this is another, what
  /// waits goes on in its name.
  package func notePresence(of caller: Caller) {
    guard let device = caller.device?.id, !caller.credentials.isEmpty,
      refusals.isWaiting(device),
      let refused = refusals.takeOut(device, for: QueuedCaller.digest(of: caller))
    else { return }
    renewals.withLock { renewals in
      renewals[device] = Task { [self] in await renewCredential(of: caller, device, refused) }
    }
  }

  private func renewCredential(
    of caller: Caller, _ device: String, _ refused: RefusedCredentials.Digests
  ) async {
    defer { _ = renewals.withLock { $0.removeValue(forKey: device) } }
    do {
      guard let sealed = try callers.sealedCredential(of: caller, device: device) else {
        return refusals.putBack(refused, of: device)
      }
      let commit = try await store.renewCredential(
        sealed, scope: caller.scope(sharing: .user), user: caller.user, of: device,
        timing: surroundings.timing)
      if commit.needsCredential { refusals.putBack(refused, of: device) }
      worker.note(commit.outlook, of: device)
    } catch {
      refusals.putBack(refused, of: device)
      logger.warning("a credential was not renewed", metadata: ["cause": "\(error)"])
    }
  }

  // MARK: Callers

  private static func device(of caller: Caller) throws(Failure) -> String {
    if let device = caller.device { return device.id }
    throw Failure(
      caller.hasToken && caller.user == nil ? .signInRequired : .unauthenticated,
      "The queue belongs to a device: send its token in Device-Token.")
  }

  static var unknown: Failure {
    Failure(.mutationNotFound, "This device has handed over no such mutation.")
  }

  private func reading<Found>(
    _ body: () async throws(StorageError) -> Found
  ) async throws(Failure) -> Found {
    do throws(StorageError) {
      return try await body()
    } catch {
      throw Failure(
        .storageUnavailable, "The queue cannot be read now.", retry: .after, cause: "\(error)")
    }
  }
}

extension QueueCommand {
  /// The mutation it is about; nil for the queue as a whole.
  fileprivate var mutation: MutationID? {
    switch self {
    case .cancel(let id), .retry(let id), .discard(let id): id
    case .pause, .resume, .flush, .signOut: nil
    }
  }
}

extension MutationRecord {
  /// Nothing more comes of it by itself; a forced one whose time is over is not waited for either.
  fileprivate func hasEnded(at now: Timestamp) -> Bool {
    switch mutation.state {
    case .inflight: false
    case .queued:
      mutation.mode == .force && mutation.everSent && !mutation.isArmed(at: now)
    default: true
    }
  }
}
