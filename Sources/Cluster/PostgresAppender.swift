internal import PostgreSQL
internal import Synchronization
internal import Transport

/// Appends to the log on a session of its own.
///
/// An append is one statement, so one transaction and one round trip: it locks the lease's row for its check, and
/// a node that takes the lease waits for that lock. So each append is committed either before the lease passes
/// on, where the next leader sees it, or never.
final class PostgresAppender: LogAppender {
  private let address: PostgresAddress
  private let schema: ClusterSchema
  private let lease: Lease
  private let deadline: Duration
  private let doorbell: Doorbell
  private let waker = PostgresWaker()
  private let sql: String
  /// Held during each append, so that the session has one user at a time.
  private let session = Mutex<PostgresSession?>(nil)

  init(
    _ address: PostgresAddress, _ schema: ClusterSchema, _ lease: Lease, deadline: Duration,
    doorbell: Doorbell
  ) {
    self.address = address
    self.schema = schema
    self.lease = lease
    self.deadline = deadline
    self.doorbell = doorbell
    // The row before must be there: positions have no gaps.
    sql = """
      INSERT INTO \(schema.log) (position, epoch, payload) SELECT $1, $2, $3
      WHERE EXISTS (SELECT 1 FROM \(schema.lease)
          WHERE epoch = $2 AND node = $4 AND until > now() FOR SHARE)
        AND EXISTS (SELECT 1 FROM \(schema.log) WHERE position = $1 - 1)
      """
  }

  deinit { close() }

  func append(_ payload: [UInt8], at position: Int64) throws(ClusterError) {
    let end = LoopClock.now() + deadline
    let result = session.withLock { session in
      Result { () throws(ClusterError) in
        try append(payload, at: position, on: &session, until: end)
      }
    }
    try result.get()
    doorbell.ring(logEnd: position)
  }

  func close() { waker.wake() }

  private func append(
    _ payload: [UInt8], at position: Int64, on session: inout PostgresSession?,
    until end: LoopInstant
  ) throws(ClusterError) {
    let parameters: [PostgresValue] = [
      .integer(position), .integer(lease.epoch), .bytes(payload), .text(lease.holder.text),
    ]
    // Each further attempt follows a proof that the one before has changed nothing.
    var hasReconnected = false
    var hasMadePartition = false
    while true {
      let failure: PostgresError
      do throws(PostgresError) {
        let current = try open(&session, end, &hasReconnected)
        let inserted = try current.query(sql, parameters, name: "append", deadline: end)
          .affectedRows
        if inserted == 1 { return }
        throw .server(Self.noRow)
      } catch { failure = error }
      switch failure {
      case .unreachable where !hasReconnected && LoopClock.now() < end && !waker.isWoken:
        session = nil
      case .lost(let reason): throw .inDoubt(reason)
      // The check has failed, or the position is taken.
      case .server(let fault) where fault == Self.noRow || fault.sqlState == "23505": throw .fenced
      // There is no partition for it yet.
      case .server(let fault) where fault.sqlState == "23514" && !hasMadePartition:
        hasMadePartition = true
        try makePartition(of: position, on: session, until: end)
      case .server(let fault):
        // A server that cannot write is not the one to ask again.
        if fault.isTransient { session = nil }
        throw ClusterError(fault)
      default: throw ClusterError(failure)
      }
    }
  }

  private static let noRow = PostgresFault(sqlState: "02000", message: "no row was inserted")

  /// Returns the session, a new one if the last has ended.
  private func open(
    _ session: inout PostgresSession?, _ end: LoopInstant, _ hasReconnected: inout Bool
  ) throws(PostgresError) -> PostgresSession {
    if let session, session.isOpen { return session }
    hasReconnected = true
    let new = try PostgresSession(address, statementTimeMax: deadline, deadline: end, waker: waker)
    session = new
    return new
  }

  private func makePartition(
    of position: Int64, on session: PostgresSession?, until end: LoopInstant
  ) throws(ClusterError) {
    guard let session else { throw .unavailable("the connection ended") }
    do throws(PostgresError) {
      let size = try schema.foundPartitionRows(session, end)
      let index = position / size
      try session.transaction(end) { () throws(PostgresError) in
        // Another leader may make the same one.
        _ = try session.query(
          "SELECT pg_advisory_xact_lock($1)", [.integer(schema.lock("tables"))], deadline: end)
        let exists = try session.query(
          "SELECT to_regclass($1) IS NOT NULL", [.text(schema.partition(index))], deadline: end)
        if exists.bool(0, 0) { return }
        for statement in schema.partitionCreation(index, rowsPerPartition: size) {
          _ = try session.query(statement, deadline: end)
        }
      }
    } catch { throw ClusterError(error) }
  }
}
