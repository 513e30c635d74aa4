import GRDB
import Synchronization

/// A read-only connection that serves all waiting reads in one snapshot.
///
/// Reaching a connection costs several thread hops, far more than a look-up; under load the hops
/// are shared. The batch is taken before the snapshot begins, so every read sees everything that
/// was committed before the read was requested.
///
/// The number of waiting reads is bounded; beyond it a read is refused at once.
final class GroupedReader: Sendable {
  /// Limit of reads that wait for the connection.
  static let waitingMax = 4_096

  private typealias Waiter = @Sendable (Result<Database, any Error>) -> Void

  private struct State {
    var waiting: [Waiter] = []
    var isClosed = false
  }

  private let connection: ReadConnection
  private let damage: StoreDamage
  private let redirection: ReadRedirection
  private let state = Mutex(State())

  init(
    _ connection: ReadConnection, damage: StoreDamage = StoreDamage(),
    redirection: ReadRedirection = ReadRedirection()
  ) {
    self.connection = connection
    self.damage = damage
    self.redirection = redirection
  }

  /// Reads within a deadline.
  ///
  /// - Parameter deadline: measured from now on; a read that waited beyond it is not begun.
  func read<Output: Sendable>(
    within deadline: QueryDeadline, _ body: @escaping @Sendable (Database) throws -> Output
  ) async throws(StorageError) -> Output {
    if let target = redirection.current { return try await target.read(within: deadline, body) }
    let watch = deadline.begin()
    let slot = connection.slot
    return try await read { database in
      try watch.run(QueryConnection(database: database, slot: slot)) { try body(database) }
    }
  }

  func read<Output: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Output
  ) async throws(StorageError) -> Output {
    if let target = redirection.current { return try await target.read(within: nil, body) }
    let result = await withCheckedContinuation { continuation in
      submit { database in
        do {
          continuation.resume(
            returning: Result<Output, StorageError>.success(try body(try database.get())))
        } catch {
          let failure = StorageError(error)
          self.damage.note(failure)
          continuation.resume(returning: .failure(failure))
        }
      }
    }
    return try result.get()
  }

  private func submit(_ waiter: @escaping Waiter) {
    let (isFirst, refusal): (Bool, StorageError?) = state.withLock { state in
      if state.isClosed { return (false, .closed) }
      guard state.waiting.count < Self.waitingMax else { return (false, .overloaded) }
      state.waiting.append(waiter)
      return (state.waiting.count == 1, nil)
    }
    if let refusal { return waiter(.failure(refusal)) }
    guard isFirst else { return }
    connection.read { [self] database in
      for waiter in takeAll() { waiter(database) }
    }
  }

  private func takeAll() -> [Waiter] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Closes the connection. Later reads fail; those already waiting are served first.
  func close() {
    state.withLock { $0.isClosed = true }
    try? connection.queue.close()
  }
}
