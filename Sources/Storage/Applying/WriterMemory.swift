import GRDB
import Model

/// The writer's state that is not read from the database for each command.
///
/// Guarded by the writer's serial queue: every access happens inside a command of ``GroupedWriter``
/// or before the first one.
// SAFETY: touched on the writer's serial queue only, once the store is open.
final class WriterMemory: @unchecked Sendable {
  struct Counters {
    var revision: Int64
    /// The highest call number written anywhere.
    var call: Int64
    /// The last revision that lost a deletion.
    var floor: Int64
    /// Not in the counter row, but rolled back with a command that fails.
    var absences = AbsenceLedger()
    /// Like `absences`: whether overlays of settled mutations can still linger.
    var mayLinger = true
    /// Like `absences`: see ``WriterMemory/hiddenChanges``.
    var hiddenChanges: [EntityKey: Set<String>]?

    init(revision: Int64, call: Int64, floor: Int64) {
      self.revision = revision
      self.call = call
      self.floor = floor
    }

    /// Reads the counter row.
    init(_ database: Database) throws {
      guard
        let row = try Row.fetchOne(database, sql: "SELECT revision, call, floor FROM counter")
      else { throw StorageError.corrupt("the counter row is missing") }
      revision = row["revision"]
      call = row["call"]
      floor = row["floor"]
    }

    /// Whether both have the same counter row.
    func isStored(as other: Counters) -> Bool {
      (revision, call, floor) == (other.revision, other.call, other.floor)
    }
  }

  var counters: Counters
  /// The watch slot of the writer's connection.
  var watchSlot = WatchSlot()
  var durability: GroupedWriter.Durability?
  /// See ``WriteAheadLog/pagesWritten(by:)``.
  var pagesAtCheckpoint: Int32 = 0
  private static let scopesMax = 10_000

  /// The numbers of scopes. They are never reused, so only a rolled-back insertion makes an entry
  /// wrong.
  private var scopes: [Scope: Int64] = [.public: ScopeTable.publicID]
  /// Kept on failure: a mark too many refuses or marks a late response, which is then refetched.
  var pendingInvalidations = PendingInvalidations()
  /// The highest call number of a purge or an invalidation since the start. Kept on failure:
  /// results of responses that began earlier are then read back unnecessarily.
  private(set) var lastInvalidation: Int64 = 0
  /// The kinds of scope, by type, that ever held a row. Kept on failure for the same reason.
  private var kindsPresent: [String: Set<Scope.Kind>] = [:]
  /// The numbers of types with local fields of any owner. Kept on failure: eviction then looks some up in
  /// vain.
  private(set) var typesWithLocalFields: Set<Int64>
  /// No response of a lower call can still arrive. True whether or not the command that reported it
  /// succeeded; no call from before the start is left.
  private(set) var horizon: Int64
  /// Kept on failure: an absence is then counted late.
  var presences = PresenceHistory()
  let touches = TouchLedger()
  /// Discarded on failure: the rows are authoritative.
  var queues = QueueWorkingSet()
  /// The number of the last ``SyncScheduler/QueueSchedule`` since the start. Never rolled back: numbers can
  /// be missing, but none is used twice.
  var lastSchedule: UInt64 = 0
  /// The eviction pass that is under way.
  var eviction: EvictionPass?
  /// The hooks that are called after writes; nil for none.
  var hooks: HookOutbox?

  init(
    counters: Counters, kindsPresent: [String: Set<Scope.Kind>],
    typesWithLocalFields: Set<Int64> = []
  ) {
    self.counters = counters
    self.typesWithLocalFields = typesWithLocalFields
    self.kindsPresent = kindsPresent
    horizon = counters.call
  }

  var mayLinger: Bool {
    get { counters.mayLinger }
    set { counters.mayLinger = newValue }
  }

  /// The devices whose optimistic updates of an entity are not shown, since it is not stored; nil before they
  /// have been read.
  var hiddenChanges: [EntityKey: Set<String>]? {
    get { counters.hiddenChanges }
    set { counters.hiddenChanges = newValue }
  }

  func note(hiddenChangesOf key: EntityKey, device: String, _ isHidden: Bool) {
    if isHidden {
      counters.hiddenChanges?[key, default: []].insert(device)
    } else if counters.hiddenChanges?[key]?.remove(device) != nil,
      counters.hiddenChanges?[key]?.isEmpty == true
    {
      counters.hiddenChanges?[key] = nil
    }
  }

  func note(call: CallNumber) {
    counters.call = max(counters.call, call.value)
  }

  /// Calls of settled mutations that responses still to come are older than. Kept on failure: a
  /// field too many is then fetched again.
  private(set) var mutations: Set<Int64> = []

  func note(mutation call: Int64) { mutations.insert(call) }

  func pruneMutations(horizon: Int64) {
    if !mutations.isEmpty { mutations = mutations.filter { $0 > horizon } }
  }

  func note(invalidation call: Int64) {
    lastInvalidation = max(lastInvalidation, call)
  }

  func note(horizon: Int64) {
    self.horizon = max(self.horizon, horizon)
  }

  func saveCounters(_ db: Database) throws {
    let statement = try PreparedStatement(
      db, "UPDATE counter SET revision = ?1, call = ?2, floor = ?3 WHERE id = 1")
    statement.bind(counters.revision, at: 1)
    statement.bind(counters.call, at: 2)
    statement.bind(counters.floor, at: 3)
    try statement.run()
  }

  /// Restores the counters from before a rolled-back command.
  func forget(since before: Counters) {
    counters = before
    queues = QueueWorkingSet()
    scopes = [.public: ScopeTable.publicID]
  }

  // MARK: What eviction must know of writes

  /// Reports an inserted row, possibly with a reused row number. The number is evaluated only while
  /// an eviction pass is under way.
  func noteInserted(type: Int64, row: @autoclosure () -> Int64) {
    guard let eviction else { return }
    eviction.marks?.noteInserted(RowPlace(type: type, row: row()))
  }

  func noteChanged(_ place: RowPlace) { eviction?.marks?.noteChanged(place) }

  // MARK: Scopes

  func scopeID(_ scope: Scope, _ db: Database) throws -> Int64 {
    if let known = try existingScopeID(scope, db) { return known }
    let id = try ScopeTable.insert(scope, db)
    note(id, of: scope)
    return id
  }

  /// Returns the number of a scope; nil if nothing was ever stored in it.
  func existingScopeID(_ scope: Scope, _ db: Database) throws -> Int64? {
    if let known = scopes[scope] { return known }
    guard let id = try ScopeTable.find(scope, db) else { return nil }
    note(id, of: scope)
    return id
  }

  /// Caches a number. There is one for each user, device and partition, so beyond the limit the
  /// cache starts over.
  private func note(_ id: Int64, of scope: Scope) {
    if scopes.count >= Self.scopesMax { scopes = [.public: ScopeTable.publicID] }
    scopes[scope] = id
  }

  func noteRow(of type: String, in kind: Scope.Kind) {
    guard kind != .public else { return }
    kindsPresent[type, default: []].insert(kind)
  }

  func noteLocalFields(of type: Int64) { typesWithLocalFields.insert(type) }

  /// Whether rows of narrower scopes can hide rows in a scope of this kind.
  func mayBeHidden(_ type: String, in kind: Scope.Kind) -> Bool {
    kindsPresent[type]?.contains { $0.isNarrower(than: kind) } ?? false
  }
}
