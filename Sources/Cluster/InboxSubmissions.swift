internal import PostgreSQL
internal import Synchronization

/// Groups the submissions of one node: while one group is written, the next is collected, so the number of
/// commits does not grow with that of callers.
final class InboxSubmissions: Sendable {
  /// Of one group, unless a single submission has more.
  private static let entriesMax = 512
  private static let bytesMax = 4 << 20

  private typealias Answer = Result<[InboxReceipt], ClusterError>

  private struct Waiting {
    let entries: [InboxEntry]
    let continuation: CheckedContinuation<Answer, Never>
    var byteCount: Int { entries.reduce(0) { $0 + $1.body.count } }
  }

  private struct State {
    var waiting: [Waiting] = []
    var isWriting = false
  }

  /// Submissions that wait for the next group. More are refused at once: their callers would wait too long.
  private let waitingMax: Int
  private let pool: PostgresPool
  private let lock: Int64
  private let sql: String
  private let state = Mutex(State())

  init(_ pool: PostgresPool, _ schema: ClusterSchema, waitingMax: Int = 8192) {
    self.pool = pool
    self.waitingMax = waitingMax
    lock = schema.lock("inbox")
    // Numbers are taken under the lock, which is held until the commit is visible: so they are in the order of
    // commits, over all nodes. A conflict changes nothing, but makes PostgreSQL return the row.
    sql = """
      WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock($1)),
      given AS (
        SELECT device, key, body
        FROM unnest($2, $3, $4) WITH ORDINALITY AS listed (device, key, body, place), held
        ORDER BY place
      )
      INSERT INTO \(schema.inbox) AS inbox (number, device, key, body)
      SELECT nextval('\(schema.inboxNumber)'), device, key, body FROM given
      ON CONFLICT (device, key) DO UPDATE SET device = inbox.device
      RETURNING number, device, key, xmax = 0
      """
  }

  func submit(_ entries: [InboxEntry]) async throws(ClusterError) -> [InboxReceipt] {
    for entry in entries where entry.device.utf8.contains(0) || entry.key.utf8.contains(0) {
      throw .faulty("a device's id or a key has a zero character, which PostgreSQL cannot store")
    }
    if entries.isEmpty { return [] }
    let answer = await withCheckedContinuation { continuation in
      let mustStart: Bool? = state.withLock { state in
        guard state.waiting.count < waitingMax else { return nil }
        state.waiting.append(Waiting(entries: entries, continuation: continuation))
        defer { state.isWriting = true }
        return !state.isWriting
      }
      switch mustStart {
      case true?: Task { await writeUntilEmpty() }
      case false?: break
      case nil:
        let reason = "\(waitingMax) submissions wait for PostgreSQL already"
        continuation.resume(returning: .failure(.unavailable(reason)))
      }
    }
    return try answer.get()
  }

  private func writeUntilEmpty() async {
    while let group = nextGroup() {
      let answer = await write(group.flatMap(\.entries))
      var index = 0
      for waiting in group {
        let range = index..<index + waiting.entries.count
        waiting.continuation.resume(returning: answer.map { Array($0[range]) })
        index = range.upperBound
      }
    }
  }

  private func nextGroup() -> [Waiting]? {
    state.withLock { state in
      var (count, bytes, taken) = (0, 0, 0)
      for waiting in state.waiting {
        count += waiting.entries.count
        bytes += waiting.byteCount
        if taken > 0, count > Self.entriesMax || bytes > Self.bytesMax { break }
        taken += 1
      }
      guard taken > 0 else {
        state.isWriting = false
        return nil
      }
      defer { state.waiting.removeFirst(taken) }
      return Array(state.waiting.prefix(taken))
    }
  }

  private struct Name: Hashable {
    let device: String
    let key: String
  }

  private func write(_ entries: [InboxEntry]) async -> Answer {
    // A statement cannot insert one key twice.
    var seen: Set<Name> = []
    let isFirst = entries.map { seen.insert(Name(device: $0.device, key: $0.key)).inserted }
    let distinct = zip(entries, isFirst).filter(\.1).map(\.0)
    let (sql, lock) = (sql, lock)
    let receipts: [Name: InboxReceipt]
    do throws(PostgresError) {
      receipts = try await pool.run { session, deadline throws(PostgresError) in
        let rows = try session.query(
          sql,
          [
            .integer(lock), .texts(distinct.map(\.device)), .texts(distinct.map(\.key)),
            .byteStrings(distinct.map(\.body)),
          ], name: "submit", deadline: deadline)
        return (0..<rows.rowCount).reduce(into: [:]) { receipts, row in
          receipts[Name(device: rows.text(row, 1), key: rows.text(row, 2))] = InboxReceipt(
            number: rows.integer(row, 0), isNew: rows.bool(row, 3))
        }
      }
    } catch {
      // Whether it was committed is not known, unless PostgreSQL has answered.
      if case .lost(let reason) = error { return .failure(.inDoubt(reason)) }
      return .failure(ClusterError(error))
    }
    var found: [InboxReceipt] = []
    for (entry, isFirst) in zip(entries, isFirst) {
      guard let receipt = receipts[Name(device: entry.device, key: entry.key)] else {
        return .failure(.faulty("PostgreSQL returned no number for an entry of the inbox"))
      }
      found.append(isFirst ? receipt : InboxReceipt(number: receipt.number, isNew: false))
    }
    return .success(found)
  }
}
