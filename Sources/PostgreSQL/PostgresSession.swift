internal import CPostgreSQL
package import Transport

/// One connection to PostgreSQL. Its calls block, until their deadline at the latest.
///
/// It is used by one thread at a time; only ``interrupt()`` can be called by others. A session whose connection
/// ended, or that has missed a deadline, is closed for good: ``isOpen``. Then the server may still run the
/// statement, until `statement_timeout` or until it notices that the client is gone.
///
/// Each statement is a transaction of its own.
// SAFETY: `connection` and what else is mutable is used by one thread at a time: the pool lends a session to
// one job, a listener and an appender lock theirs. `waker` is immutable, and an eventfd may be written by any.
package final class PostgresSession: @unchecked Sendable {
  private var connection: OpaquePointer?
  private let waker: PostgresWaker
  private var prepared: Set<String> = []

  /// Whether prepared statements are lost between transactions, as by a pooler.
  private var losesStatements = false

  /// The server's version, such as 150018 for 15.18.
  package private(set) var serverVersion = 0
  /// The id of the server's process for this session, as it was at the start.
  package private(set) var backendID: Int64 = 0
  /// Whether the connection is to a pooler: it says another process id than the server.
  package private(set) var isPooled = false

  package var isOpen: Bool { connection != nil }

  /// Connects and prepares the session.
  ///
  /// Throws ``PostgresError/unreachable(_:)``, ``PostgresError/server(_:)`` or ``PostgresError/unusable(_:)``.
  ///
  /// - Parameters:
  ///   - statementTimeMax: after which the server ends a statement.
  ///   - waker: ends the session's waits.
  package init(
    _ address: PostgresAddress, statementTimeMax: Duration, deadline: LoopInstant,
    waker: PostgresWaker = PostgresWaker()
  ) throws(PostgresError) {
    try PostgresLibrary.load()
    self.waker = waker
    let parameters = address.parameters
    connection = withCStrings(parameters.map(\.name)) { names in
      withCStrings(parameters.map(\.value)) { larder_pq_connect_start(names, $0) }
    }
    guard let connection else { throw .unreachable("libpq has no memory for a connection") }
    larder_pq_ignore_notices(connection)
    do throws(PostgresError) {
      try connect(deadline)
      guard larder_pq_set_nonblocking(connection) == 0 else { throw .unreachable(lastMessage) }
      serverVersion = Int(larder_pq_server_version(connection))
      try settle(statementTimeMax, deadline)
    } catch {
      close()
      // What was lost on the way to a session has changed nothing.
      if case .lost(let reason) = error { throw .unreachable(reason) }
      throw error
    }
  }

  deinit { close() }

  private func connect(_ deadline: LoopInstant) throws(PostgresError) {
    guard let connection else { throw .unreachable("the session is closed") }
    // As libpq prescribes: first as if the last poll had asked for writing.
    var polled = LARDER_PQ_POLLING_WRITING
    while polled != LARDER_PQ_POLLING_OK {
      if polled == LARDER_PQ_POLLING_FAILED || larder_pq_status(connection) == LARDER_PQ_BAD {
        throw connectionFault()
      }
      switch wait(forWriting: polled == LARDER_PQ_POLLING_WRITING, deadline) {
      case .ready: polled = Int(larder_pq_connect_poll(connection))
      case .late: throw .unreachable("the server did not accept the connection in time")
      case .woken: throw .unreachable("the session was closed")
      }
    }
  }

  /// libpq reports the server's refusals of a connection as text alone, such as `FATAL:  password
  /// authentication failed`: all are the same for the caller, who can only try again later.
  private func connectionFault() -> PostgresError { .unreachable(lastMessage) }

  /// Sets what the statements here rely on. Not through a pooler, where a setting would stay for others.
  private func settle(_ statementTimeMax: Duration, _ deadline: LoopInstant) throws(PostgresError) {
    let ids = try query("SELECT pg_backend_pid()::int8", deadline: deadline)
    backendID = ids.integer(0, 0)
    isPooled = connection.map { Int64(larder_pq_backend_pid($0)) } != backendID
    guard !isPooled else { return }
    let milliseconds = max(1, Int(statementTimeMax / .milliseconds(1)))
    var settings = "set_config('statement_timeout', $1, false)"
    settings += ", set_config('default_transaction_isolation', 'read committed', false)"
    // Ends a statement whose client is gone.
    if serverVersion >= 140_000 {
      settings += ", set_config('client_connection_check_interval', '1s', false)"
    }
    _ = try query("SELECT \(settings)", [.text("\(milliseconds)")], deadline: deadline)
  }

  // MARK: Statements

  /// Runs a statement and returns its rows.
  ///
  /// - Parameter name: under which the statement is prepared at its first use; nil for one that is used once.
  package func query(
    _ sql: String, _ parameters: [PostgresValue] = [], name: String? = nil, deadline: LoopInstant
  ) throws(PostgresError) -> PostgresResult {
    guard let name, !losesStatements else { return try run(sql, parameters, deadline) }
    do throws(PostgresError) {
      if !prepared.contains(name) {
        try prepare(sql, parameters.map(\.type), name, deadline)
        prepared.insert(name)
      }
      return try run(prepared: name, parameters, deadline)
    } catch {
      // 26000, no such statement, and 42P05, it exists already: a pooler has changed the server's process
      // between transactions. Neither has run anything.
      guard case .server(let fault) = error, ["26000", "42P05"].contains(fault.sqlState) else {
        throw error
      }
      losesStatements = true
      return try run(sql, parameters, deadline)
    }
  }

  private func prepare(
    _ sql: String, _ types: [UInt32], _ name: String, _ deadline: LoopInstant
  ) throws(PostgresError) {
    let connection = try idleConnection()
    guard larder_pq_send_prepare(connection, name, sql, Int32(types.count), types) == 1 else {
      throw failedToSend()
    }
    do throws(PostgresError) { _ = try finish(deadline) } catch {
      if case .lost(let reason) = error { throw .unreachable(reason) }
      throw error
    }
  }

  private func run(
    prepared name: String, _ parameters: [PostgresValue], _ deadline: LoopInstant
  ) throws(PostgresError) -> PostgresResult {
    let connection = try idleConnection()
    let sent = withEncoded(parameters) { count, values, lengths, formats in
      larder_pq_send_prepared(connection, name, count, values, lengths, formats)
    }
    guard sent == 1 else { throw failedToSend() }
    return try finish(deadline)
  }

  private func run(
    _ sql: String, _ parameters: [PostgresValue], _ deadline: LoopInstant
  ) throws(PostgresError) -> PostgresResult {
    let connection = try idleConnection()
    let types = parameters.map(\.type)
    let sent = withEncoded(parameters) { count, values, lengths, formats in
      larder_pq_send_query(connection, sql, count, types, values, lengths, formats)
    }
    guard sent == 1 else { throw failedToSend() }
    return try finish(deadline)
  }

  /// Reads what came while the session was idle: a connection that has ended since is found before anything
  /// is sent.
  private func idleConnection() throws(PostgresError) -> OpaquePointer {
    guard let connection else { throw .unreachable("the session is closed") }
    while true {
      let found = larder_pq_wait(larder_pq_socket(connection), 0, waker.descriptor, 0)
      if found == 0 { return connection }
      if found < 0 || found & 2 == 2 { throw failedToSend("the session was closed") }
      let isRead = larder_pq_consume_input(connection) == 1
      if !isRead || larder_pq_status(connection) != LARDER_PQ_CONNECTED { throw failedToSend() }
    }
  }

  /// Sends the rest of a statement, and waits for its response.
  private func finish(_ deadline: LoopInstant) throws(PostgresError) -> PostgresResult {
    guard let connection else { throw .unreachable("the session is closed") }
    try flush(connection, deadline)
    var rows: OpaquePointer?
    var fault: PostgresFault?
    defer { if let rows { larder_pq_clear(rows) } }
    // Until there are no more: an error can follow the rows, and the server reports that the statement has ended
    // before it commits.
    while let next = try nextResult(connection, deadline) {
      let status = Int(larder_pq_result_status(next))
      if status == LARDER_PQ_TUPLES_OK || status == LARDER_PQ_COMMAND_OK {
        if let rows { larder_pq_clear(rows) }
        rows = next
        continue
      }
      defer { larder_pq_clear(next) }
      guard let reported = Self.fault(next) else {
        throw lost(String(cString: larder_pq_result_message(next)).trimmedLine)
      }
      fault = reported
    }
    if let fault { throw .server(fault) }
    guard larder_pq_status(connection) == LARDER_PQ_CONNECTED, let result = rows.take() else {
      throw lost(lastMessage)
    }
    return PostgresResult(result)
  }

  /// The server commits once it has read the last byte of a statement, which is the message Sync, and never
  /// before: a statement that was not sent to its end has no effect.
  private func flush(_ connection: OpaquePointer, _ deadline: LoopInstant) throws(PostgresError) {
    while true {
      let rest = larder_pq_flush(connection)
      if rest == 0 { return }
      if rest < 0 { throw failedToSend() }
      switch wait(forWriting: true, deadline) {
      case .ready: guard larder_pq_consume_input(connection) == 1 else { throw failedToSend() }
      case .late: throw failedToSend("the statement could not be sent within the deadline")
      case .woken: throw failedToSend("the session was closed")
      }
    }
  }

  /// Returns the next result of the statement; nil if there are no more, and it is committed.
  private func nextResult(
    _ connection: OpaquePointer, _ deadline: LoopInstant
  ) throws(PostgresError) -> OpaquePointer? {
    while larder_pq_is_busy(connection) == 1 {
      switch wait(forWriting: false, deadline) {
      case .ready: guard larder_pq_consume_input(connection) == 1 else { throw lost(lastMessage) }
      case .late: throw lost("no response within the deadline")
      case .woken: throw lost("the session was closed while a statement ran")
      }
    }
    return larder_pq_get_result(connection)
  }

  /// The error that a statement ended with; nil if it ended the session, so that the statement may be in effect:
  /// libpq's own errors, which have no SQLSTATE, and the server's of severity FATAL or PANIC, which can also come
  /// after the commit.
  private static func fault(_ result: OpaquePointer) -> PostgresFault? {
    func field(_ code: Int) -> String? {
      larder_pq_result_field(result, Int32(code)).map { String(cString: $0) }
    }
    guard let sqlState = field(LARDER_PQ_FIELD_SQLSTATE), field(LARDER_PQ_FIELD_SEVERITY) == "ERROR"
    else {
      return nil
    }
    let message = field(LARDER_PQ_FIELD_MESSAGE) ?? "no message"
    let detail = field(LARDER_PQ_FIELD_DETAIL).map { ": \($0)" } ?? ""
    return PostgresFault(
      sqlState: sqlState, message: message + detail, hint: field(LARDER_PQ_FIELD_HINT))
  }

  // MARK: Notifications

  /// Waits until the session has notifications, and returns them; none at the deadline, and once the session
  /// is interrupted.
  ///
  /// Throws ``PostgresError/unreachable(_:)`` if the connection has ended.
  package func notifications(until deadline: LoopInstant) throws(PostgresError)
    -> [PostgresNotification]
  {
    guard let connection else { throw .unreachable("the session is closed") }
    while true {
      let found = PostgresNotification.taken(from: connection)
      if !found.isEmpty { return found }
      switch wait(forWriting: false, deadline) {
      case .ready:
        let isRead = larder_pq_consume_input(connection) == 1
        guard isRead, larder_pq_status(connection) == LARDER_PQ_CONNECTED else {
          throw failedToSend()
        }
      case .late, .woken: return []
      }
    }
  }

  // MARK: Ending

  /// Ends a wait of the session, and so the call that waits, from any thread. The session is of no use
  /// afterwards.
  package func interrupt() { waker.wake() }

  /// Closes the connection. The server rolls back what it has not committed.
  package func close() {
    if let connection = connection.take() { larder_pq_finish(connection) }
  }

  private func failedToSend(_ reason: String? = nil) -> PostgresError {
    let text = reason ?? lastMessage
    close()
    return .unreachable(text)
  }

  private func lost(_ reason: String) -> PostgresError {
    close()
    return .lost(reason)
  }

  private var lastMessage: String {
    let text = connection.flatMap { larder_pq_error_message($0) }.map {
      String(cString: $0).trimmedLine
    }
    guard let text, !text.isEmpty else { return "the connection ended" }
    return text
  }

  private enum Wait { case ready, late, woken }

  private func wait(forWriting isWriting: Bool, _ deadline: LoopInstant) -> Wait {
    guard let connection else { return .woken }
    while true {
      let now = LoopClock.now()
      guard now < deadline else { return .late }
      // Rounded up, so that the last wait is not a busy one.
      let left = deadline.elapsed(since: now) / .milliseconds(1)
      let milliseconds = Int32(min(left.rounded(.up), 60_000))
      let found = larder_pq_wait(
        larder_pq_socket(connection), isWriting ? 1 : 0, waker.descriptor, milliseconds)
      if found < 0 || found & 2 == 2 { return .woken }
      if found & 1 == 1 { return .ready }
    }
  }
}
