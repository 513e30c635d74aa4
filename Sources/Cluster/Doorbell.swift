internal import Logging
internal import PostgreSQL
internal import Synchronization
internal import Transport

/// Notifications that the log or the inbox has more, and how far it goes by now.
///
/// It rings on a session of its own, after the commit, and one notification stands for all that were due while
/// the one before was sent. Within a commit, `NOTIFY` would take a lock that all notifying transactions of the
/// server share, until that commit is on disk.
final class Doorbell: Sendable {
  private let channel: String
  private let logger: Logger
  private let ringing: PostgresPool
  private let listener: PostgresListener
  private let ends: DoorbellEnds
  private let state = Mutex(State())

  private struct State {
    /// What the next notification says; 0 for nothing.
    var logEnd: Int64 = 0
    var inboxEnd: Int64 = 0
    /// How often this has changed, and how often it had when it was last sent.
    var changes = 0
    var changesSent = 0
    var isRinging = false
    var hasStarted = false
    var isClosed = false
  }

  init(_ address: PostgresAddress, channel: String, deadline: Duration, logger: Logger) {
    self.channel = channel
    self.logger = logger
    ringing = PostgresPool(address, sessionsMax: 1, deadline: deadline)
    let ends = DoorbellEnds()
    self.ends = ends
    listener = PostgresListener(address, channel: channel, connectTimeMax: deadline) { event in
      switch event {
      // Something may have been missed.
      case .listening: ends.wakeAll()
      case .notification(let notification): ends.read(notification.payload)
      case .lost(let error):
        logger.debug(
          "No connection for notifications; polling instead", metadata: ["error": "\(error)"])
      }
    }
  }

  deinit { close() }

  func close() {
    state.withLock { $0.isClosed = true }
    listener.close()
    ringing.close()
    ends.wakeAll()
  }

  // MARK: Ringing

  func ring(logEnd position: Int64) {
    ends.log.advance(to: position)
    ring { $0.logEnd = position }
  }

  func ring(inboxEnd number: Int64) {
    ends.inbox.advance(to: number)
    ring { $0.inboxEnd = max($0.inboxEnd, number) }
  }

  /// Wakes all nodes that wait, because the lease has ended: a payload that says nothing of the ends does so.
  func ringForLease() {
    ends.wakeAll()
    if state.withLock({ $0.isClosed }) { return }
    ringing.submit { [self] session, deadline throws(PostgresError) in
      _ = try session.query(
        "SELECT pg_notify($1, 'lease')", [.text(channel)], name: "ring for the lease",
        deadline: deadline)
    } failed: { [self] error in
      logger.debug("Cannot notify the other nodes", metadata: ["error": "\(error)"])
    }
  }

  private func ring(_ change: (inout State) -> Void) {
    let mustStart = state.withLock { state in
      change(&state)
      state.changes += 1
      guard !state.isRinging, !state.isClosed else { return false }
      state.isRinging = true
      return true
    }
    if mustStart { sendDue() }
  }

  private func sendDue() {
    ringing.submit { [self] session, deadline throws(PostgresError) in
      while let due = nextDue() {
        _ = try session.query(
          "SELECT pg_notify($1, $2)", [.text(channel), .text(due.text)], name: "ring",
          deadline: deadline)
        state.withLock { $0.changesSent = due.changes }
      }
    } failed: { [self] error in
      // It is due still, and sent with the next one; until then the other nodes poll.
      state.withLock { $0.isRinging = false }
      logger.debug("Cannot notify the other nodes", metadata: ["error": "\(error)"])
    }
  }

  /// Returns what is due, and nil if nothing is: then ringing has ended.
  private func nextDue() -> (text: String, changes: Int)? {
    state.withLock { state in
      guard state.changes > state.changesSent else {
        state.isRinging = false
        return nil
      }
      return ("\(state.logEnd) \(state.inboxEnd)", state.changes)
    }
  }

  // MARK: Waiting

  /// The last position of the log, as far as is known.
  var logEnd: Int64 { ends.log.value }

  /// Takes back what was said of the log's end, if nothing has been said since.
  func correct(logEnd said: Int64, to position: Int64) { ends.log.correct(said, to: position) }

  func correct(inboxEnd said: Int64, to number: Int64) { ends.inbox.correct(said, to: number) }

  var inboxEnd: Int64 { ends.inbox.value }

  func waitForLog(after position: Int64, atMost limit: Duration) async {
    startListening()
    await ends.log.wait(after: position, atMost: limit)
  }

  func waitForInbox(after number: Int64, atMost limit: Duration) async {
    startListening()
    await ends.inbox.wait(after: number, atMost: limit)
  }

  private func startListening() {
    let mustStart = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted && !state.isClosed
    }
    if mustStart { listener.start() }
  }
}

/// The ends of the log and of the inbox, as far as notifications and this node's own writes say.
final class DoorbellEnds: Sendable {
  let log = DoorbellEnd()
  let inbox = DoorbellEnd()

  func wakeAll() {
    log.wake()
    inbox.wake()
  }

  /// Reads `LOG INBOX`, two decimal numbers, of which 0 says nothing.
  func read(_ payload: String) {
    let numbers = payload.split(separator: " ").map { Int64($0) ?? 0 }
    guard numbers.count == 2 else { return wakeAll() }
    if numbers[0] > 0 { log.advance(to: numbers[0]) }
    if numbers[1] > 0 { inbox.advance(to: numbers[1]) }
  }
}

/// A number that grows, and those who wait for it.
final class DoorbellEnd: Sendable {
  private let number = Mutex<Int64>(0)
  private let signal = AsyncSignal()

  var value: Int64 { number.withLock { $0 } }

  func advance(to new: Int64) {
    number.withLock { $0 = max($0, new) }
    signal.notify()
  }

  func correct(_ said: Int64, to new: Int64) {
    number.withLock { if $0 == said { $0 = min(said, new) } }
  }

  func wake() { signal.notify() }

  func wait(after seen: Int64, atMost limit: Duration) async {
    let count = signal.count
    if value > seen { return }
    await signal.wait(after: count, atMost: limit)
  }
}
