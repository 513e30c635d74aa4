import GRDB
import Model
import Synchronization

/// The one connection that writes. Waiting commands share a transaction and resume after COMMIT.
///
/// A failed command undoes only itself: if one fails, all are rolled back and performed again, each
/// in a savepoint of its own. So a command can run twice, and has no effects outside. If the
/// transaction itself is lost (a full disk), all its commands fail and nothing of them remains.
final class GroupedWriter: Sendable {
  /// The failures a commit must survive. A batch is as durable as its most demanding command.
  enum Durability: Int, Sendable, Comparable {
    /// A crash of the process. A power failure can lose the latest commits, whole ones.
    case process
    /// A power failure: the log is synced before COMMIT returns.
    case powerFailure

    static func < (left: Durability, right: Durability) -> Bool { left.rawValue < right.rawValue }
  }

  private struct Command: Sendable {
    let durability: Durability
    /// Whether it continues from notes of its last run, which are worthless after a rollback.
    let keepsNotes: Bool
    let isProvisional: Bool
    /// Runs inside the transaction, possibly a second time after a rollback; returns the completion
    /// to run after the commit.
    let perform: @Sendable (Database, WriterMemory) throws -> Completion
    let fail: @Sendable (StorageError) -> Void
  }

  private struct Completion: Sendable {
    let report: CommitReport?
    let resume: @Sendable () -> Void
  }

  /// The commands of a transaction that were performed or have failed.
  private struct Work {
    private(set) var done: [Completion] = []
    private(set) var performed: [Command] = []
    var failed: [(command: Command, error: StorageError)] = []

    mutating func add(_ completion: Completion, of command: Command) {
      done.append(completion)
      performed.append(command)
    }
  }

  private struct State {
    var waiting: [Command] = []
    /// The error that every later command fails with.
    var refusal: StorageError?
    /// Frees some space on a full disk.
    var freeSpace: (@Sendable () -> Bool)?
    var observer: (@Sendable (CommitReport) -> Void)?
    /// Told once that no further write is taken, since the node no longer leads its cluster.
    var loss: (@Sendable (StorageError) -> Void)?
  }

  /// Limit of commands in one transaction. More would delay the first of them without saving much.
  static let batchMax = 512

  let queue: DatabaseQueue
  let memory: WriterMemory
  private let checkpointPages: Int
  private let damage: StoreDamage
  /// Appends each transaction to the log of a cluster; nil for a single node.
  private let recorder: TransactionRecorder?
  private let state = Mutex(State())
  private let committedHead: Atomic<Int64>
  private let announced = Atomic<Int64>(0)
  private let committedFloor: Atomic<Int64>
  private let committedPosition: Atomic<Int64>

  init(
    queue: DatabaseQueue, memory: WriterMemory, checkpointPages: Int,
    damage: StoreDamage = StoreDamage(), recorder: TransactionRecorder? = nil,
    position: Int64 = 0
  ) {
    self.damage = damage
    self.recorder = recorder
    self.queue = queue
    self.memory = memory
    self.checkpointPages = checkpointPages
    committedHead = Atomic(memory.counters.revision)
    committedFloor = Atomic(memory.counters.floor)
    committedPosition = Atomic(position)
  }

  /// The last committed revision.
  var head: Revision { Revision(committedHead.load(ordering: .acquiring)) }

  /// The revision of a commit, from before readers can see it until its observers know it; zero without one.
  var revisionUnderWay: Revision { Revision(announced.load(ordering: .acquiring)) }

  /// The last row of the cluster's log that is committed here; 0 for a single node.
  var position: Int64 { committedPosition.load(ordering: .acquiring) }

  /// The last revision that lost a deletion, as committed.
  var floor: Revision { Revision(committedFloor.load(ordering: .acquiring)) }

  func observe(_ observer: @escaping @Sendable (CommitReport) -> Void) {
    state.withLock { $0.observer = observer }
  }

  func whenFull(_ freeSpace: @escaping @Sendable () -> Bool) {
    state.withLock { $0.freeSpace = freeSpace }
  }

  /// Registers a function that is called when the node can no longer lead its cluster.
  func whenLost(_ loss: @escaping @Sendable (StorageError) -> Void) {
    state.withLock { $0.loss = loss }
  }

  /// Makes every later command fail with an error.
  func refuseAll(with error: StorageError) {
    state.withLock { $0.refusal = error }
  }

  /// Performs a command and returns once it is committed.
  ///
  /// - Parameters:
  ///   - keepsNotes: whether it continues from notes in the memory. It is then not performed again for
  ///     other commands' failures.
  ///   - frees: whether it frees space. On a full disk it is retried once there is a little space: no
  ///     client could free any otherwise.
  ///   - isProvisional: whether the command always fails, so that a store that is a copy performs it too.
  ///   - report: returns the report for observers.
  func write<Output: Sendable>(
    _ durability: Durability = .process, keepsNotes: Bool = false, frees: Bool = false,
    isProvisional: Bool = false,
    report: @escaping @Sendable (Output) -> CommitReport? = { $0 as? CommitReport },
    _ body: @escaping @Sendable (Database, WriterMemory) throws -> Output
  ) async throws(StorageError) -> Output {
    let result = await perform(
      durability, keepsNotes: keepsNotes, isProvisional: isProvisional, report: report, body)
    guard frees, case .failure(.full) = result, let freeSpace = state.withLock({ $0.freeSpace }),
      freeSpace()
    else { return try result.get() }
    return try await perform(durability, keepsNotes: keepsNotes, report: report, body).get()
  }

  private func perform<Output: Sendable>(
    _ durability: Durability, keepsNotes: Bool, isProvisional: Bool = false,
    report: @escaping @Sendable (Output) -> CommitReport?,
    _ body: @escaping @Sendable (Database, WriterMemory) throws -> Output
  ) async -> Result<Output, StorageError> {
    await withCheckedContinuation { continuation in
      submit(
        Command(
          durability: durability, keepsNotes: keepsNotes, isProvisional: isProvisional,
          perform: { database, memory in
            let output = try body(database, memory)
            return Completion(report: report(output)) {
              continuation.resume(returning: Result<Output, StorageError>.success(output))
            }
          },
          fail: { continuation.resume(returning: .failure($0)) }))
    }
  }

  private func submit(_ command: Command) {
    let (isFirst, refusal) = state.withLock { state -> (Bool, StorageError?) in
      if let refusal = state.refusal,
        !command.isProvisional || refusal != .readOnly && !refusal.endsLeading
      {
        return (false, refusal)
      }
      state.waiting.append(command)
      return (state.waiting.count == 1, nil)
    }
    if let refusal { return command.fail(refusal) }
    if isFirst { schedule() }
  }

  private func schedule() {
    queue.asyncWriteWithoutTransaction { [self] database in commitWaiting(database) }
  }

  private func commitWaiting(_ database: Database) {
    while let batch = takeBatch() { commit(batch, database) }
  }

  private func takeBatch() -> [Command]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return nil }
      // A provisional command has a transaction of its own: it is rolled back whole, and sees only what is
      // committed.
      let count =
        state.waiting[0].isProvisional
        ? 1 : state.waiting.prefix(Self.batchMax).prefix { !$0.isProvisional }.count
      let batch = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(batch.count)
      return batch
    }
  }

  // MARK: One transaction

  private func commit(_ batch: [Command], _ database: Database) {
    let before = memory.counters
    var work = Work()
    do {
      // Writes to a file without a name would be lost with the process.
      if WriteAheadLog.hasMoved(database) { throw StorageError.moved }
      try prepare(batch.map(\.durability).max() ?? .process, database)
      try begin(database)
      try perform(batch, database, &work)
      if !memory.counters.isStored(as: before) { try memory.saveCounters(database) }
      try recorder?.append(work.done.compactMap(\.report), database)
      announce(memory.counters.revision)
      try database.cachedStatement(sql: "COMMIT").execute()
      recorder?.noteCommitted()
    } catch {
      let isLogged = recorder?.isAppended == true
      try? undo(since: before, database)
      var failure = StorageError(error)
      // In the log and not here: only reading the log again mends that.
      if isLogged { failure = .logInDoubt("a row was appended and not committed: \(failure)") }
      damage.note(failure)
      if failure.endsLeading { endLeading(failure) }
      let handled = work.failed.count + work.performed.count
      for command in work.performed + batch.dropFirst(handled) { command.fail(failure) }
      for (command, error) in work.failed { command.fail(error) }
      return
    }
    publish(position: recorder?.position ?? 0)
    notify(work.done)
    for (command, error) in work.failed { command.fail(error) }
    let open = WriteAheadLog.resetStatements(of: database)
    assert(open.isEmpty, "statements were not reset: \(open)")
    checkpointIfDue(database)
  }

  /// Performs the commands one after the other; if one fails, all of them again, each in a
  /// savepoint.
  private func perform(_ batch: [Command], _ database: Database, _ work: inout Work) throws {
    if batch.count > 1, batch.contains(where: \.keepsNotes) {
      return try performApart(batch, database, &work)
    }
    let before = memory.counters
    do {
      for command in batch { work.add(try command.perform(database, memory), of: command) }
    } catch _ where database.isInsideTransaction && batch.count > 1 {
      try undo(since: before, database)
      work = Work()
      try begin(database)
      try performApart(batch, database, &work)
    }
  }

  private func endLeading(_ failure: StorageError) {
    let loss = state.withLock { state in
      state.refusal = state.refusal ?? failure
      return state.loss.take()
    }
    loss?(failure)
  }

  private func begin(_ database: Database) throws {
    try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
  }

  private func undo(since before: WriterMemory.Counters, _ database: Database) throws {
    memory.forget(since: before)
    // It may have read rows that are now rolled back.
    memory.eviction = nil
    if database.isInsideTransaction { try database.rollback() }
    recorder?.noteRolledBack()
    announce(0)
  }

  /// Checkpoints the log. Inside COMMIT, where SQLite would do it, all callers that wait for the
  /// commit would wait for this too. Pages that cannot be copied yet, since a reader still needs
  /// the old ones, are tried again next time.
  func checkpointIfDue(_ database: Database) {
    let written = WriteAheadLog.pagesWritten(by: database)
    guard Int(written &- memory.pagesAtCheckpoint) >= checkpointPages,
      let done = try? database.checkpoint(.passive),
      done.walFrameCount == done.checkpointedFrameCount
    else { return }
    memory.pagesAtCheckpoint = written
  }

  /// Performs each command in a savepoint of its own, which undoes only that command if it fails.
  private func performApart(
    _ batch: [Command], _ database: Database, _ work: inout Work
  ) throws {
    for command in batch {
      do {
        work.add(try performApart(command, database), of: command)
      } catch let error where database.isInsideTransaction {
        let failure = StorageError(error)
        damage.note(failure)
        work.failed.append((command, failure))
      }
    }
  }

  private func performApart(_ command: Command, _ database: Database) throws -> Completion {
    let before = memory.counters
    try PreparedStatement(database, "SAVEPOINT command").run()
    do {
      let completion = try command.perform(database, memory)
      try PreparedStatement(database, "RELEASE command").run()
      return completion
    } catch {
      memory.forget(since: before)
      if database.isInsideTransaction {
        try PreparedStatement(database, "ROLLBACK TO command").run()
        try PreparedStatement(database, "RELEASE command").run()
      }
      throw error
    }
  }

  private func notify(_ completions: [Completion]) {
    notify(completions.compactMap(\.report))
    for completion in completions { completion.resume() }
  }

  func notify(_ reports: [CommitReport]) {
    defer { announce(0) }
    guard let observer = state.withLock({ $0.observer }) else { return }
    for report in reports { observer(report) }
  }

  /// Makes known which revision readers can see as soon as the transaction is committed, or 0 once its observers
  /// know it.
  func announce(_ revision: Int64) {
    announced.store(revision, ordering: .releasing)
  }

  /// Makes what was committed known to readers.
  func publish(position: Int64) {
    committedHead.store(memory.counters.revision, ordering: .releasing)
    committedFloor.store(memory.counters.floor, ordering: .releasing)
    committedPosition.store(position, ordering: .releasing)
  }

  /// Sets the durability. Takes effect outside transactions only, and GRDB sets NORMAL on its own
  /// at opening.
  private func prepare(_ durability: Durability, _ database: Database) throws {
    guard memory.durability != durability else { return }
    let level = durability == .powerFailure ? "FULL" : "NORMAL"
    try database.execute(sql: "PRAGMA synchronous = \(level)")
    memory.durability = durability
  }

  /// Checkpoints the log and frees its disk space, as far as both can be done now.
  func truncateLog() {
    try? queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
  }

  /// Closes the connection. Later commands fail; those already waiting are written first.
  /// Checkpoints the log, since closing alone leaves it. Does nothing the second time.
  func close() {
    let wasClosed = state.withLock { state in
      defer { state.refusal = .closed }
      return state.refusal == .closed
    }
    if wasClosed { return }
    try? queue.writeWithoutTransaction { database in
      // No commands arrive from here on; a run that was scheduled for these finds nothing to do.
      commitWaiting(database)
      _ = try database.checkpoint(.truncate)
    }
    try? queue.close()
  }
}

/// Carries a refusal out of a command that is rolled back.
final class ThrownRefusal<Refusal: Error & Sendable>: Sendable {
  let refusal = Mutex<Refusal?>(nil)
}
