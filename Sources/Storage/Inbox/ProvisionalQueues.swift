import GRDB
package import Model
import SyncScheduler
import Synchronization

/// The submissions that devices made and that the store has not yet: they are in the inbox of the cluster.
///
/// A device's reads show them as the leader will enqueue them, see ``ProvisionalFold``. Empty without a
/// cluster, and in a cluster while the leader moves submissions faster than their clients get a response.
final class ProvisionalQueues: Sendable {
  struct Entry: Sendable {
    let submissions: [InboxSubmission]
    let timing: QueueTiming
  }

  /// What sends the reads of devices to ``ProvisionalFold``.
  let redirection: ReadRedirection
  private let devices = Mutex<[String: Entry]>([:])

  init(_ redirection: ReadRedirection) { self.redirection = redirection }

  /// Whether no device has any.
  var isEmpty: Bool { redirection.isOff }

  /// - Parameter entry: nil if the store has all submissions of the device.
  func set(_ entry: Entry?, of device: String) {
    devices.withLock { devices in
      devices[device] = entry
      redirection.use(!devices.isEmpty)
    }
  }

  subscript(device: String) -> Entry? {
    devices.withLock { $0[device] }
  }
}

/// Reads of one device with its submissions from the inbox.
///
/// Each read is a transaction of the writer's connection that enqueues the submissions, reads, and is rolled
/// back. So filters, order, counts and search see what an entity shows, by the very decisions that the leader
/// will take, and a submission that the store has already is not shown twice. Such a read costs the enqueueing
/// of what the device has in the inbox and waits for its turn among the writes; a device needs it while there
/// is no leader.
///
/// A provisional change takes no revision: it is in no page of changes by itself, and the cursors of pages
/// stay those of the commits that were read.
struct ProvisionalFold: RedirectedReads {
  let entry: ProvisionalQueues.Entry
  let device: String
  let catalogue: TypeCatalogue
  let writer: GroupedWriter

  /// The result of a read, carried out of the transaction that is rolled back.
  private final class Found<Output: Sendable>: Sendable {
    let result = Mutex<Result<Output, StorageError>?>(nil)
  }

  /// Ends the transaction.
  private struct End: Error {}

  func read<Output: Sendable>(
    within deadline: QueryDeadline?, _ body: @escaping @Sendable (Database) throws -> Output
  ) async throws(StorageError) -> Output {
    let watch = deadline?.begin()
    return try await perform { context in
      guard let watch else { return try body(context.database) }
      return try watch.run(
        QueryConnection(database: context.database, slot: context.memory.watchSlot)
      ) { try body(context.database) }
    }
  }

  private func perform<Output: Sendable>(
    _ body: @escaping @Sendable (WriteContext) throws -> Output
  ) async throws(StorageError) -> Output {
    let found = Found<Output>()
    let perform: @Sendable (Database, WriterMemory) throws -> Bool = { database, memory in
      let context = try LogApplier.withTriggers(database) { try enqueue(database, memory) }
      let result: Result<Output, StorageError>
      do {
        result = .success(try body(context))
      } catch {
        result = .failure(StorageError(error))
      }
      found.result.withLock { $0 = result }
      throw End()
    }
    do throws(StorageError) {
      _ = try await writer.write(isProvisional: true, report: { _ in nil }, perform)
    } catch {
      if let result = found.result.withLock({ $0 }) { return try result.get() }
      throw error
    }
    throw .failed(code: 0, message: "a provisional read was committed")
  }

  private func enqueue(_ database: Database, _ memory: WriterMemory) throws -> WriteContext {
    // In a store that is a copy the rows change without the memory. Both are restored with the transaction.
    let stored = try WriterMemory.Counters(database)
    if stored.revision > memory.counters.revision { memory.counters = stored }
    memory.hiddenChanges = nil
    memory.queues = QueueWorkingSet()
    let context = WriteContext(
      database, memory, catalogue, call: CallNumber(memory.counters.call),
      horizon: CallNumber(memory.horizon))
    context.isProvisional = true
    for submission in entry.submissions {
      try QueueLedger(
        context, device: device, timing: entry.timing.draining(after: submission.age),
        readsAll: true
      ).drain(submission, within: nil)
    }
    return context
  }
}

extension Store {
  /// Sets the submissions that a device has in the inbox and that this store does not have yet; reads of the
  /// device show them from now on.
  ///
  /// - Parameter submissions: in order of their numbers.
  package func setProvisional(
    _ submissions: [InboxSubmission], of device: String, timing: QueueTiming
  ) {
    provisional.set(
      submissions.isEmpty
        ? nil : ProvisionalQueues.Entry(submissions: submissions, timing: timing),
      of: device)
  }

  /// Reports changes of what a device sees that no commit made to the observers, so that its responses and
  /// streams follow.
  package func reportProvisional(_ keys: Set<EntityKey>, of device: String) {
    let scope = Scope.device(device)
    let queue = CommitReport.Change(
      scope: scope, key: EntityKey(type: QueueTypes.outcome, key: ""))
    writer.notify([
      CommitReport(
        revision: nil,
        changes: keys.map { CommitReport.Change(scope: scope, key: $0) } + [queue],
        invalidated: [], resultChanged: false, isExact: false, head: head)
    ])
  }

  /// Runs reads of one device so that they show its submissions from the inbox.
  package func folding<Output: Sendable>(
    _ device: String?, _ body: () async throws(StorageError) -> Output
  ) async throws(StorageError) -> Output {
    guard !provisional.isEmpty, let device, let entry = provisional[device] else {
      return try await body()
    }
    let fold = ProvisionalFold(
      entry: entry, device: device, catalogue: catalogue, writer: writer)
    let result: Result<Output, StorageError> = await ReadRedirection.$target.withValue(fold) {
      do throws(StorageError) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Runs reads of a viewer as ``folding(_:_:)`` does for its device.
  func folding<Output: Sendable>(
    _ viewer: Viewer, _ body: () async throws(StorageError) -> Output
  ) async throws(StorageError) -> Output {
    guard !provisional.isEmpty else { return try await body() }
    return try await folding(viewer.layers.first { $0.kind == .device }?.subject, body)
  }
}
