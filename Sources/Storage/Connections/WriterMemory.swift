import GRDB
import Model

/// What the writer knows without asking the database.
///
/// Who guards it: the writer's serial queue. Every access happens inside a command of
/// ``GroupedWriter`` or before the first one.
// SAFETY: touched on the writer's serial queue only, once the store is open.
final class WriterMemory: @unchecked Sendable {
  struct Counters: Equatable {
    var revision: Int64
    /// The highest call number written anywhere.
    var call: Int64
    /// Changes that are not in the counter row but must still be remembered to be undone.
    var absences = AbsenceLedger()
  }

  var counters: Counters
  var durability: GroupedWriter.Durability?
  /// Numbers of scopes. They are never reused, so only a rolled-back insertion makes one wrong.
  private var scopes: [Scope: Int64] = [.public: ScopeTable.publicID]
  /// Kept on failure as well: a mark too many refuses or marks a late answer, which is refetched.
  var lateMarks = LateMarks()
  /// By type: the widest kinds of scope that ever held a row. Kept on failure for the same reason.
  private var kindsPresent: [String: Set<Scope.Kind>] = [:]

  init(counters: Counters, kindsPresent: [String: Set<Scope.Kind>]) {
    self.counters = counters
    self.kindsPresent = kindsPresent
  }

  func note(call: CallNumber) {
    counters.call = max(counters.call, call.value)
  }

  func saveCounters(_ db: Database) throws {
    let statement = try PreparedStatement(
      db, "UPDATE counter SET revision = ?1, call = ?2 WHERE id = 1")
    statement.bind(counters.revision, at: 1)
    statement.bind(counters.call, at: 2)
    try statement.run()
  }

  /// Takes back what a rolled-back command counted.
  func forget(since before: Counters) {
    counters = before
    scopes = [.public: ScopeTable.publicID]
  }

  // MARK: Scopes

  func scopeID(_ scope: Scope, _ db: Database) throws -> Int64 {
    if let known = scopes[scope] { return known }
    let id = try ScopeTable.find(scope, db) ?? ScopeTable.insert(scope, db)
    scopes[scope] = id
    return id
  }

  func noteRow(of type: String, in kind: Scope.Kind) {
    guard kind != .public else { return }
    kindsPresent[type, default: []].insert(kind)
  }

  /// Whether rows of narrower scopes may hide what a row of this kind says.
  func mayBeHidden(_ type: String, in kind: Scope.Kind) -> Bool {
    kindsPresent[type]?.contains { $0.rawValue > kind.rawValue } ?? false
  }
}
