package import Accounts
package import Logging
import LosslessJSON
package import Model
package import Storage
package import SyncScheduler
package import Traces
package import Upstream

/// The sync queue of each device, as clients use it.
///
/// Acknowledged mutations are on disk. The ``worker`` drains the queues; nothing here sends.
package final class SyncQueue: Sendable {
  /// The maximum number of mutations in one page of a list.
  package static let pageMax = 200

  package let worker: QueueWorker
  /// What the leader of a cluster moves submissions to the queues with; nil without a cluster.
  package let drainer: InboxDrainer?
  let submitter: InboxSubmitter?
  private let store: Store
  private let validator: MutationValidator
  private let devices: DeviceRegistry
  private let environment: QueueEnvironment
  let cursors: CursorIssuer
  private let signal: CommitSignal
  private let renewal: CredentialRenewal
  private let makeID: @Sendable () -> String
  /// On a replica, which sends no mutation; nil on other nodes.
  private let leader: LeaderLink?
  private let presented = PresentedCredentials()

  package init(
    store: Store, registry: OperationRegistry, localTypes: Set<String>, upstreams: Upstreams,
    calls: CallSequence, epoch: MutationEpoch, cursors: CursorIssuer,
    devices: DeviceRegistry, signal: CommitSignal, sealer: Sealer, environment: QueueEnvironment,
    concurrency: SendConcurrency, transientCodes: Set<String>, clock: WallClock, logger: Logger,
    ownWrites: OwnDataWrites? = nil, tracer: SpanTracer? = nil, leader: LeaderLink? = nil,
    inbox: ClusterInbox? = nil,
    makeID: @escaping @Sendable () -> String
  ) {
    self.leader = leader
    let writes = ownWrites.map { QueuedWrites(own: $0) }
    self.store = store
    self.devices = devices
    self.environment = environment
    self.cursors = cursors
    self.signal = signal
    self.makeID = makeID
    let callers = QueuedCaller(sealer: sealer)
    validator = MutationValidator(
      registry: registry, localTypes: localTypes, callers: callers, writes: writes
    ) {
      MutationID("m_\(makeID())")
    }
    let refusals = RefusedCredentials()
    let parts = CredentialParts(upstreams)
    let worker = QueueWorker(
      store: store,
      sender: MutationSender(
        registry: registry, upstreams: upstreams, calls: calls, head: { [store] in store.head },
        callers: callers,
        transientCodes: transientCodes, clock: clock, writes: writes),
      environment: environment, epoch: epoch, concurrency: concurrency, logger: logger,
      tracer: tracer,
      refused: QueueWorker.Refusals(
        noted: { device, upstream, digest in
          refusals.note(parts.key(device, upstream), refused: digest)
        },
        recovered: { device, control in
          for key in parts.keys(device, waiting: control) { refusals.note(key) }
        }, ended: { refusals.endRecovery() }))
    self.worker = worker
    renewal = CredentialRenewal(
      store: store, callers: callers, refusals: refusals, parts: parts, environment: environment,
      logger: logger,
      renewed: { [weak worker] in worker?.note($0, of: $1) })
    submitter = inbox.map {
      InboxSubmitter(
        inbox: $0.inbox, mirror: $0.mirror, store: store, signal: signal, environment: environment)
    }
    drainer = inbox.map {
      InboxDrainer(
        inbox: $0.inbox, store: store, environment: environment, logger: logger,
        drained: { [weak worker] in worker?.note($0, of: $1) },
        refused: { device, control in
          for key in parts.keys(device, waiting: control) { refusals.note(key) }
        })
    }
    for upstream in upstreams.all {
      upstream.pulse.observe { [weak worker] in worker?.noteSuccess(of: $0) }
    }
  }

  /// Creates the queue of a service with one upstream.
  package convenience init(
    store: Store, registry: OperationRegistry, localTypes: Set<String>, upstream: UpstreamClient,
    calls: CallSequence, epoch: MutationEpoch, pulse: UpstreamPulse, cursors: CursorIssuer,
    devices: DeviceRegistry, signal: CommitSignal, sealer: Sealer, environment: QueueEnvironment,
    concurrencyMax: Int, transientCodes: Set<String>, clock: WallClock, logger: Logger,
    ownWrites: OwnDataWrites? = nil, inbox: ClusterInbox? = nil,
    makeID: @escaping @Sendable () -> String
  ) {
    self.init(
      store: store, registry: registry, localTypes: localTypes,
      upstreams: Upstreams(client: upstream, pulse: pulse), calls: calls, epoch: epoch,
      cursors: cursors, devices: devices, signal: signal, sealer: sealer,
      environment: environment, concurrency: SendConcurrency(concurrencyMax),
      transientCodes: transientCodes, clock: clock, logger: logger, ownWrites: ownWrites,
      inbox: inbox, makeID: makeID)
  }

  // MARK: Enqueueing

  /// Enqueues lazy and steady mutations, all or none.
  ///
  /// - Parameter requests: the requests with their idempotency keys.
  package func enqueue(
    _ requests: [(request: MutationRequest, key: String)], by caller: Caller
  ) async throws(Failure) -> [MutationStatus] {
    let device = try Self.device(of: caller)
    let answer = try await submit(requests, device: device, by: caller)
    let cursor =
      answer.entry.map { cursors.cursor(for: caller.viewer, covering: $0) }
      ?? cursors.cursor(for: caller.viewer)
    return answer.receipts.map { MutationStatus($0, cursor: cursor) }
  }

  /// Enqueues a forced mutation and waits for its outcome. Cancelling the wait does not cancel the
  /// mutation.
  ///
  /// - Parameter key: nil if the caller will not repeat the request.
  package func force(
    _ request: MutationRequest, key: String?, by caller: Caller
  ) async throws(Failure) -> MutationStatus {
    let device = try Self.device(of: caller)
    // Registered first, so that an outcome in between is not missed.
    let listener = try await listen(as: caller, device: device)
    defer { signal.remove(listener) }
    let key = key ?? makeID()
    let answer = try await submit([(request, key)], device: device, by: caller)
    guard let receipt = answer.receipts.first else {
      throw Failure(.internal, "No mutation was enqueued.")
    }
    let record = try await end(
      of: receipt.mutation.id, device: device, caller: caller, listener: listener,
      within: environment.policy.forceDeadline + environment.policy.answerDeadline)
    return try MutationStatus(record, receipt, cursor: cursors.cursor(for: caller.viewer))
  }

  private func submit(
    _ requests: [(request: MutationRequest, key: String)], device: String, by caller: Caller
  ) async throws(Failure) -> InboxSubmitter.Answer {
    let newMutations = try validator.newMutations(requests, caller: caller, device: device)
    if let submitter {
      return try await submitter.submit(
        newMutations, of: device, pointers: requests.map(\.request.pointer))
    }
    let result: Result<QueueCommit<[MutationReceipt]>, ArrivalRefusal>
    do throws(StorageError) {
      result = try await CurrentTrace.within("commit") { _ throws(StorageError) in
        try await store.enqueue(newMutations, of: device, timing: environment.timing)
      }
    } catch {
      throw Failure(
        .storageUnavailable, "The mutation could not be stored; nothing was enqueued.",
        retry: .sameKey, retryAfter: .seconds(5), cause: "\(error)")
    }
    switch result {
    case .success(let commit):
      worker.note(commit.outlook, of: device)
      if commit.needsCredential {
        renewal.noteRefusal(of: caller, device: device, control: commit.control)
      }
      return InboxSubmitter.Answer(receipts: commit.answer, entry: nil)
    case .failure(let refusal):
      throw Failure(refusal, pointers: requests.map(\.request.pointer))
    }
  }

  // MARK: Waiting

  /// Registers a listener for as long as the caller's tokens are valid. They are checked again after
  /// registering: a revocation in between would not end the listener.
  private func listen(
    as caller: Caller, device: String
  ) async throws(Failure) -> ChangeListener {
    let listener = signal.listen(
      as: Viewer(layers: [.device(device)]), device: device, user: caller.user,
      lifetime: devices.lifetime(of: caller))
    do throws(Failure) {
      try await devices.confirm(caller)
    } catch {
      signal.remove(listener)
      throw error
    }
    return listener
  }

  /// Waits for a mutation's outcome and returns its record, also if the wait is over before.
  private func end(
    of id: MutationID, device: String, caller: Caller, listener: ChangeListener,
    within wait: Duration
  ) async throws(Failure) -> MutationRecord {
    let alarm = signal.alarm(listener, after: wait)
    defer { alarm.cancel() }
    while true {
      let record = try await record(id, device: device)
      if record.hasEnded(at: environment.now) { return record }
      let wakes = await listener.next()
      if wakes.contains(.end) { try await devices.confirm(caller) }
      if !wakes.isDisjoint(with: [.alarm, .end]) {
        return try await self.record(id, device: device)
      }
    }
  }

  private func record(_ id: MutationID, device: String) async throws(Failure) -> MutationRecord {
    let found = try await reading(device) { () async throws(StorageError) in
      try await store.mutation(id, of: device)
    }
    if let found { return found }
    // Another node may have accepted it a moment ago.
    if let leader, leader.canAsk { throw leader.need() }
    if let submitter {
      try await submitter.mirror.catchUp(device)
      let late = try await reading(device) { () async throws(StorageError) in
        try await store.mutation(id, of: device)
      }
      if let late { return late }
    }
    throw Self.unknown
  }

  // MARK: Reading

  /// Returns a mutation as JSON.
  ///
  /// - Parameter wait: how long to hold back the response for the mutation's outcome.
  package func mutation(
    _ id: String, wait: Duration, by caller: Caller
  ) async throws(Failure) -> [UInt8] {
    let device = try Self.device(of: caller)
    guard wait > .zero else {
      return try await record(MutationID(id), device: device).json(withResponse: true)
    }
    let listener = try await listen(as: caller, device: device)
    defer { signal.remove(listener) }
    let record = try await end(
      of: MutationID(id), device: device, caller: caller, listener: listener, within: wait)
    return record.json(withResponse: true)
  }

  /// Returns the caller's mutations as JSON, the newest first.
  ///
  /// - Parameter after: the id of the last mutation of the page before.
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
    let records = try await reading(device) { () async throws(StorageError) in
      try await store.mutations(of: device, states: states, before: before, limit: limit)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for record in records { writer.raw(record.json(withResponse: false)) }
    writer.endArray()
    if records.count == limit, let last = records.last {
      writer.name("next")
      writer.string(last.mutation.id.value)
    }
    writer.endObject()
    return writer.bytes
  }

  /// Returns the status of the caller's queue.
  package func status(by caller: Caller) async throws(Failure) -> QueueStatus {
    try await status(of: Self.device(of: caller))
  }

  /// Returns the status of a device's queue.
  package func status(of device: String) async throws(Failure) -> QueueStatus {
    try await reading(device) { () async throws(StorageError) in
      try await store.queueStatus(of: device)
    }
  }

  /// Returns the queues that are not empty, of devices after `after`, for operators.
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

  /// Returns the unfinished mutations of a device as JSON, for operators.
  package func mutations(of device: String) async throws(Failure) -> [UInt8] {
    try await list(
      states: [.queued, .inflight, .parked], before: nil, limit: Self.pageMax, of: device)
  }

  // MARK: Commands

  /// Performs a command.
  ///
  /// - Returns: the command's mutation as JSON; nil for a command on the whole queue.
  package func perform(
    _ command: QueueCommand, by caller: Caller
  ) async throws(Failure) -> [UInt8]? {
    try await perform(command, on: Self.device(of: caller))
  }

  /// Performs a command on behalf of an operator, or when a user signs out.
  package func perform(
    _ command: QueueCommand, on device: String
  ) async throws(Failure) -> [UInt8]? {
    // The request itself may have brought the credential that the queue waits for.
    await renewal.end(of: device)
    let result: Result<QueueCommit<Mutation?>, CommandRefusal>
    if let id = command.mutation { _ = try await record(id, device: device) }
    do throws(StorageError) {
      result = try await store.command(command, on: device, timing: environment.timing)
    } catch {
      throw Failure(
        .storageUnavailable, "The queue cannot be changed; retry later.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
    switch result {
    case .success(let commit):
      worker.note(commit.outlook, of: device)
      guard let mutation = commit.answer else { return nil }
      return try await record(mutation.id, device: device).json(withResponse: true)
    case .failure(let refusal): throw Failure(refusal)
    }
  }

  // MARK: Maintenance

  /// Removes finished mutations whose retention is over, a few hundred at a time.
  ///
  /// - Parameter now: the time of the trusted clock: setting the wall clock forward must not make an
  ///   old key valid again as a new one.
  /// - Returns: whether there may be more.
  func forgetEnded(at now: Timestamp) async throws(StorageError) -> Bool {
    try await store.forgetMutations(at: now)
  }

  // MARK: Credentials

  /// Notes that a device presented a credential. If upstream refused the last one and this one is
  /// different, the queue resumes with it.
  package func notePresence(of caller: Caller) {
    guard leader != nil else { return renewal.notePresence(of: caller) }
    // The leader resumes the queue when it sees the credential.
    guard let device = caller.device, device.access == .full, !caller.credentials.isEmpty,
      let current = LeaderRequest.current, presented.note(caller.credentials, of: device.id)
    else { return }
    Task { await current.present() }
  }

  // MARK: Callers

  private static func device(of caller: Caller) throws(Failure) -> String {
    if let device = caller.device { return device.id }
    throw Failure(
      caller.hasToken && caller.user == nil ? .signInRequired : .unauthenticated,
      "The queue belongs to a device: send its token in Device-Token.")
  }

  static var unknown: Failure {
    Failure(.mutationNotFound, "This device has no such mutation.")
  }

  /// - Parameter device: the device whose submissions in the inbox of a cluster are shown; nil for none.
  private func reading<Found: Sendable>(
    _ device: String? = nil, _ body: () async throws(StorageError) -> Found
  ) async throws(Failure) -> Found {
    do throws(StorageError) {
      return try await store.folding(device, body)
    } catch {
      throw Failure(
        .storageUnavailable, "The queue cannot be read; retry later.", retry: .after,
        cause: "\(error)")
    }
  }
}

extension QueueCommand {
  /// The command's mutation; nil for a command on the whole queue.
  fileprivate var mutation: MutationID? {
    switch self {
    case .cancel(let id), .retry(let id), .discard(let id): id
    case .pause, .resume, .flush, .signOut: nil
    }
  }
}

extension MutationRecord {
  /// Whether its outcome is final; a forced mutation whose time is over is not waited for either.
  fileprivate func hasEnded(at now: Timestamp) -> Bool {
    switch mutation.state {
    case .inflight: false
    case .queued:
      mutation.mode == .force && mutation.everSent && !mutation.isArmed(at: now)
    default: true
    }
  }
}
