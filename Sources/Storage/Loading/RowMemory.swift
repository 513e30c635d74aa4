import GRDB
import Model

/// The rows that one read-only connection has read since the last commit.
///
/// SQLite forgets a connection's pages when another connection has committed, and so does this: at the
/// start of a read it compares `PRAGMA data_version`, which differs whenever a commit came between two
/// transactions. So what is here is what the read's own snapshot has. A row costs a look-up in memory instead
/// of one in an index and one in the table.
// SAFETY: used on its connection's serial queue only.
final class RowMemory: @unchecked Sendable {
  /// Beyond so many bytes, everything is forgotten.
  private static let bytesMax = 4 << 20
  /// The approximate size of an entry without its text and its key.
  private static let bytesAnEntry = 160

  private struct Place: Hashable {
    let type: Int64
    let scope: Int64
    let key: String

    static func == (left: Self, right: Self) -> Bool {
      left.scope == right.scope && left.type == right.type && left.key.equalsExactly(right.key)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(scope)
      hasher.combine(type)
      key.hashExactly(into: &hasher)
    }
  }

  /// A row of an entity table; nil contents if there is none.
  struct Row {
    /// The row's number; 0 if there is none.
    var number: Int64 = 0
    var loaded: EntityLoader.Loaded?
  }

  private var version: Int64 = -1
  private var rows: [Place: Row] = [:]
  private var own: [Place: LocalFieldTexts.Own?] = [:]
  private var byteCount = 0

  /// Forgets what an older snapshot had. Must be called in the transaction of each read.
  fileprivate func begin(_ db: Database) throws {
    let statement = try PreparedStatement(db, "PRAGMA data_version", bindsAll: true)
    defer { statement.reset() }
    let current = try statement.step() ? statement.int64(0) : -1
    if current != version || current == -1 { forget() }
    version = current
  }

  /// Returns the row of a key, read by `read` unless it is known.
  func row(
    of key: String, type: Int64, scope: Int64, _ read: () throws -> Row
  ) rethrows -> Row {
    let place = Place(type: type, scope: scope, key: key)
    if let known = rows[place] { return known }
    let row = try read()
    admit(key.utf8.count + (row.loaded?.record.layers.first?.count ?? 0))
    rows[place] = row
    return row
  }

  /// Returns what shows of an owner's local fields, read by `read` unless it is known; nil without any.
  func own(
    of key: String, type: Int64, scope: Int64, _ read: () throws -> LocalFieldTexts.Own?
  ) rethrows -> LocalFieldTexts.Own? {
    let place = Place(type: type, scope: scope, key: key)
    if let known = own[place] { return known }
    let found = try read()
    admit(key.utf8.count + (found?.text.count ?? 0))
    own[place] = .some(found)
    return found
  }

  private func admit(_ bytes: Int) {
    if byteCount > Self.bytesMax { forget() }
    byteCount += bytes + Self.bytesAnEntry
  }

  private func forget() {
    guard byteCount > 0 else { return }
    rows = [:]
    own = [:]
    byteCount = 0
  }
}

/// The memories of the readers' connections.
struct RowMemories: Sendable {
  private let byConnection: [ObjectIdentifier: RowMemory]

  init(_ connections: [ReadConnection]) {
    byConnection = Dictionary(
      connections.map { connection in
        (connection.queue.inDatabase { ObjectIdentifier($0) }, RowMemory())
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the memory for a read in its transaction; nil on a connection that has none, as that which
  /// writes.
  func begin(_ db: Database) throws -> RowMemory? {
    guard let memory = byConnection[ObjectIdentifier(db)] else { return nil }
    try memory.begin(db)
    return memory
  }
}
