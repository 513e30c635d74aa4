import GRDB
import Model
import Synchronization

/// Read-only connections for callers' queries: filters, searches, counts, conditions.
///
/// Synchronisation: the mutex guards the state; a connection belongs to the query that runs on it.
///
/// A connection runs one query at a time, in its own snapshot and with a deadline that began when the query
/// was submitted. Queries that find no free connection wait in *lanes*, one for each caller and kind of
/// query, and lanes take turns, so that a caller with many queries delays mostly itself. Public callers,
/// devices and users each leave at least one connection to the others. Waiting is bounded: a query beyond
/// the limit is refused at once, and so is one whose time ended while it waited.
final class QueryReaders: Sendable {
  /// Maximum queries that wait in all lanes of one kind of caller: devices leave room for users, and
  /// neither can block public callers.
  static let waitingMax = 128
  /// Maximum queries that wait in one lane: the requests that an app sends at once for one screen.
  static let laneWaitingMax = 32

  private struct Waiter: Sendable {
    let watch: QueryWatch?
    /// Whether the query had to wait, so that its time can be over.
    var hasWaited = false
    let body: @Sendable (Result<QueryConnection, StorageError>, _ hasWaited: Bool) -> Void

    func run(_ connection: Result<QueryConnection, StorageError>) { body(connection, hasWaited) }
  }

  private struct State {
    var idle: [ReadConnection]
    var running: [Scope.Kind: Int] = [:]
    var lanes: [QueryLane: [Waiter]] = [:]
    /// Waiting lanes; a served lane goes to the end.
    var turns: [QueryLane] = []
    var waiting: [Scope.Kind: Int] = [:]
    var isClosed = false
  }

  private let connections: [ReadConnection]
  private let damage: StoreDamage
  private let redirection: ReadRedirection
  private let state: Mutex<State>

  init(
    connections: [ReadConnection], damage: StoreDamage = StoreDamage(),
    redirection: ReadRedirection = ReadRedirection()
  ) {
    self.connections = connections
    self.damage = damage
    self.redirection = redirection
    state = Mutex(State(idle: connections))
  }

  /// Runs a query on a connection, in its turn.
  ///
  /// - Throws: ``StorageError/tooCostly`` if the query was stopped while it ran,
  ///   ``StorageError/overloaded`` if it was not started.
  func read<Value: Sendable>(
    _ lane: QueryLane, within deadline: QueryDeadline?,
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StorageError) -> Value {
    if let target = redirection.current { return try await target.read(within: deadline, body) }
    let watch = deadline?.begin()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(
          Waiter(watch: watch) { [damage] connection, hasWaited in
            do {
              let connection = try connection.get()
              let value =
                try watch.map { try $0.run(connection) { try body(connection.database) } }
                ?? body(connection.database)
              continuation.resume(returning: Result<Value, StorageError>.success(value))
            } catch {
              let error = StorageError(error)
              damage.note(error)
              // Waiting used up part of its time.
              let isLate = error == .tooCostly && hasWaited
              continuation.resume(returning: .failure(isLate ? .overloaded : error))
            }
          }, lane)
      }
    } onCancel: {
      watch?.cancel()
    }
    return try result.get()
  }

  /// The number of queries that wait for a connection.
  var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0, +) } }

  // MARK: Turns

  private func submit(_ waiter: Waiter, _ lane: QueryLane) {
    let refusal: StorageError? = state.withLock { state in
      if state.isClosed { return .closed }
      guard
        state.waiting[lane.caller.kind] ?? 0 < Self.waitingMax,
        state.lanes[lane, default: []].count < Self.laneWaitingMax
      else { return .overloaded }
      if state.lanes[lane, default: []].isEmpty { state.turns.append(lane) }
      state.lanes[lane, default: []].append(waiter)
      state.waiting[lane.caller.kind, default: 0] += 1
      return nil
    }
    if let refusal { return waiter.run(.failure(refusal)) }
    startWaiting()
  }

  /// Starts the queries that can run now and refuses those without time left.
  private func startWaiting() {
    while let (connection, waiter, lane) = takeNext() {
      if waiter.hasWaited, waiter.watch?.isOver == true {
        waiter.run(.failure(.overloaded))
        finish(connection, lane)
        continue
      }
      connection.read { [self] database in
        waiter.run(
          database.map { QueryConnection(database: $0, slot: connection.slot) }
            .mapError { StorageError($0) })
        finish(connection, lane)
        startWaiting()
      }
    }
    for waiter in takeExpired() { waiter.run(.failure(.overloaded)) }
  }

  private func takeNext() -> (ReadConnection, Waiter, QueryLane)? {
    state.withLock { state in
      guard let connection = state.idle.last,
        let turn = state.turns.firstIndex(where: { canRun($0, state) })
      else {
        for lane in state.turns {
          for index in state.lanes[lane, default: []].indices {
            state.lanes[lane]?[index].hasWaited = true
          }
        }
        return nil
      }
      let lane = state.turns.remove(at: turn)
      guard let waiter = state.lanes[lane]?.removeFirst() else { return nil }
      if state.lanes[lane]?.isEmpty == true {
        state.lanes[lane] = nil
      } else {
        state.turns.append(lane)
      }
      state.waiting[lane.caller.kind, default: 0] -= 1
      state.idle.removeLast()
      state.running[lane.caller.kind, default: 0] += 1
      return (connection, waiter, lane)
    }
  }

  /// Returns whether a lane's query can start: the last free connection is reserved for callers of another
  /// kind.
  private func canRun(_ lane: QueryLane, _ state: borrowing State) -> Bool {
    connections.count == 1
      || (state.running[lane.caller.kind] ?? 0) < connections.count - 1
  }

  private func finish(_ connection: ReadConnection, _ lane: QueryLane) {
    state.withLock { state in
      state.idle.append(connection)
      state.running[lane.caller.kind, default: 0] -= 1
    }
  }

  private func takeExpired() -> [Waiter] {
    state.withLock { state in
      var expired: [Waiter] = []
      for lane in state.turns {
        let isOver = { (waiter: Waiter) in waiter.hasWaited && waiter.watch?.isOver == true }
        guard let waiters = state.lanes[lane], waiters.contains(where: isOver) else { continue }
        let before = expired.count
        expired += waiters.filter(isOver)
        state.waiting[lane.caller.kind, default: 0] -= expired.count - before
        let left = waiters.filter { !isOver($0) }
        state.lanes[lane] = left.isEmpty ? nil : left
      }
      state.turns.removeAll { state.lanes[$0] == nil }
      return expired
    }
  }

  /// Closes the connections after running queries have ended; waiting and later queries fail.
  func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer {
        state.lanes = [:]
        state.turns = []
        state.waiting = [:]
      }
      return state.lanes.values.flatMap { $0 }
    }
    for waiter in waiting { waiter.run(.failure(.closed)) }
    for connection in connections { try? connection.queue.close() }
  }
}

/// The lane in which a query waits for a connection: one for each caller and kind of query.
struct QueryLane: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case collection, search, changes, write
  }

  let kind: Kind
  /// The narrowest scope that the caller sees.
  let caller: Scope

  init(_ kind: Kind, of viewer: Viewer) {
    self.kind = kind
    caller = viewer.layers.first ?? .public
  }

  init(_ kind: Kind, in scope: Scope) {
    self.kind = kind
    caller = scope
  }
}
