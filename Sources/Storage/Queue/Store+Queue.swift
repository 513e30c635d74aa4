import GRDB
package import Model
import Synchronization

/// The sync queue: a decision and what it changes are one transaction, and what was told of it is
/// on disk.
extension Store {
  /// Takes mutations of one device, all or none. Returns once they would survive a power failure.
  package func enqueue(
    _ arrivals: [NewMutation], of device: String, timing: QueueTiming
  ) async throws(StorageError) -> Result<QueueCommit<[MutationReceipt]>, ArrivalRefusal> {
    try await refusable(.powerFailure, device, timing) { ledger in
      do {
        return .success(try ledger.enqueue(arrivals))
      } catch let refusal as ArrivalRefusal where refusal.isOfTheFirst {
        return .failure(refusal)
      }
    }
  }

  /// Takes one for sending. The claim survives the process; that of what must not be sent twice
  /// survives a power failure too.
  ///
  /// - Returns: nil in the answer where it may not go any more.
  package func claim(
    _ ready: QueueSchedule.Ready, of device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<ClaimedMutation?> {
    try await queueCommand(ready.isRepeatable ? .process : .powerFailure, device, timing) {
      ledger in try ledger.claim(ready.id)
    }
  }

  /// Writes what an attempt came to: the mutation's end, what the answer said, temporary ids, its
  /// overlay and what depends on it.
  ///
  /// - Parameter goesOn: the device's next is taken in the same commit, if it may go at once to the
  ///   same upstream and may be sent twice.
  package func settle(
    _ settlement: MutationSettlement, goesOn: Bool = false, of device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<SettledMutation> {
    try await queueCommand(
      .process, device, timing, call: settlement.answer?.call,
      horizon: settlement.answer?.horizon
    ) { ledger in
      var settled = try ledger.settle(settlement)
      if goesOn, let upstream = settled.mutation?.upstream {
        settled.next = try ledger.claimNext(for: upstream)
      }
      return settled
    }
  }

  /// Does what the passing of time asks for, and tells what the queue could send.
  package func look(
    at device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.process, device, timing) { ledger in
      try ledger.lapse()
      return true
    }
  }

  /// As ``look(at:timing:)``, for the first time after a start.
  ///
  /// - Parameter review: how what the queue holds fits the operations in force, see
  ///   ``heldPayloads(of:)``.
  package func recover(
    _ device: String, review: OperationReview = OperationReview(), timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.process, device, timing) { ledger in
      try ledger.recover(review)
      return true
    }
  }

  /// A client's or an operator's word about one mutation or the whole queue. On disk when it
  /// returns.
  package func command(
    _ command: QueueCommand, on device: String, timing: QueueTiming
  ) async throws(StorageError) -> Result<QueueCommit<Mutation?>, CommandRefusal> {
    try await refusable(.powerFailure, device, timing) { ledger in
      do {
        return .success(try ledger.perform(command))
      } catch let refusal as CommandRefusal {
        return .failure(refusal)
      }
    }
  }

  /// A newer credential of the same user, or of the same device where it is opaque, for what waits.
  ///
  /// - Parameter user: the verified one; nil for an opaque credential.
  package func renewCredential(
    _ sealed: String, scope: Scope, user: String?, of device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.powerFailure, device, timing) { ledger in
      try ledger.renewCredential(sealed, scope: scope, user: user)
      return true
    }
  }

  // MARK: Reading

  package func queueStatus(of device: String) async throws(StorageError) -> QueueStatus {
    try await reader.read { try QueueRows(database: $0).status(of: device) }
  }

  /// Devices whose queue holds something or waits for a credential, those behind `last`.
  package func queueDevices(
    after last: String, limit: Int
  ) async throws(StorageError) -> [String] {
    try await reader.read { try QueueRows(database: $0).devices(after: last, limit: limit) }
  }

  /// What a device's queue holds that goes by itself, or would if its operation had not changed.
  package func heldPayloads(of device: String) async throws(StorageError) -> [HeldPayload] {
    try await reader.read { database in
      let statement = try PreparedStatement(database, HeldPayload.selection(ofDevice: true))
      statement.bind(device, at: 1)
      defer { statement.reset() }
      var held: [HeldPayload] = []
      while try statement.step() {
        held.append(
          HeldPayload(
            id: MutationID(statement.string(0)), device: device, operation: statement.string(2),
            step: MutationStep(rawValue: statement.string(3)) ?? .send,
            verifier: UnknownOutcomeRule(text: statement.string(4))?.verifier,
            variables: statement.string(5),
            isParked: statement.string(6) == MutationState.parked.rawValue))
      }
      return held
    }
  }

  /// Reads a row for each mutation that is held: for now and then.
  package func queueLoad() async throws(StorageError) -> QueueLoad {
    try await longReader.read { database in
      let statement = try PreparedStatement(
        database,
        """
        SELECT count(*) FILTER (WHERE state <> 'parked'), \
        count(*) FILTER (WHERE state = 'parked'), min(enqueued) FILTER (WHERE state <> 'parked') \
        FROM mutation WHERE is_held AND state IN ('queued', 'inflight', 'parked')
        """)
      defer { statement.reset() }
      guard try statement.step() else { return QueueLoad(pending: 0, parked: 0, oldest: nil) }
      return QueueLoad(
        pending: Int(statement.int64(0)), parked: Int(statement.int64(1)),
        oldest: statement.optionalInt64(2).map(Timestamp.init(milliseconds:)))
    }
  }

  /// Parked mutations of a device by their reason.
  package func parkedReasons(of device: String) async throws(StorageError) -> [SettleReason: Int] {
    try await reader.read { try QueueRows(database: $0).parkedReasons(of: device) }
  }

  package func mutation(
    _ id: MutationID, of device: String
  ) async throws(StorageError) -> MutationRecord? {
    try await reader.read { database in
      try MutationReader(database: database).record(id, of: device)
    }
  }

  /// The newest first.
  package func mutations(
    of device: String, states: [MutationState]?, before: Int64?, limit: Int
  ) async throws(StorageError) -> [MutationRecord] {
    try await reader.read { database in
      try MutationReader(database: database)
        .records(of: device, states: states, before: before, limit: limit)
    }
  }

  /// What temporary ids of a device stand for; unknown ones are absent.
  package func resolve(
    _ ids: [TemporaryID], of device: String
  ) async throws(StorageError) -> [TemporaryID: EntityKey] {
    try await reader.read { try TemporaryIDRows(database: $0, device: device).find(ids) }
  }

  // MARK: Commands

  private func queueCommand<Answer: Sendable>(
    _ durability: GroupedWriter.Durability, _ device: String, _ timing: QueueTiming,
    call: CallNumber? = nil, horizon: CallNumber? = nil, readsAll: Bool = false,
    _ body: @escaping @Sendable (QueueLedger) throws -> Answer
  ) async throws(StorageError) -> QueueCommit<Answer> {
    let catalogue = catalogue
    let perform: @Sendable (Database, WriterMemory) throws -> QueueCommit<Answer> = {
      database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: call ?? CallNumber(memory.counters.call),
        horizon: horizon ?? CallNumber(memory.horizon))
      let ledger = try QueueLedger(
        context, device: device, timing: timing, readsAll: readsAll)
      let answer = try body(ledger)
      return QueueCommit(
        answer: answer, outlook: try ledger.outlook(), needsCredential: ledger.needsCredential,
        report: context.finish())
    }
    return try await writer.write(durability, report: { $0.report }, perform)
  }

  /// What the queue refuses before anything was written is an answer like others. Where something
  /// was it is thrown, so that this is undone: then the queues in memory are forgotten with it, and
  /// must be read again.
  private func refusable<Answer: Sendable, Refusal: Error & Sendable>(
    _ durability: GroupedWriter.Durability, _ device: String, _ timing: QueueTiming,
    _ body: @escaping @Sendable (QueueLedger) throws -> Result<Answer, Refusal>
  ) async throws(StorageError) -> Result<QueueCommit<Answer>, Refusal> {
    let note = ThrownRefusal<Refusal>()
    do throws(StorageError) {
      let commit = try await queueCommand(durability, device, timing, readsAll: true) { ledger in
        do {
          return try body(ledger)
        } catch let error as Refusal {
          note.refusal.withLock { $0 = error }
          throw error
        }
      }
      return commit.answer.map {
        QueueCommit(
          answer: $0, outlook: commit.outlook, needsCredential: commit.needsCredential,
          report: commit.report)
      }
    } catch {
      guard let refusal = note.refusal.withLock({ $0 }) else { throw error }
      return .failure(refusal)
    }
  }
}
