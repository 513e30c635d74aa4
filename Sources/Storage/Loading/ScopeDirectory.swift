import GRDB
import Model
import Synchronization

/// Numbers of scopes as readers know them. A number is never reused, so what was found stays true.
final class ScopeDirectory: Sendable {
  /// Entries kept; past this the directory starts over.
  private static let entriesMax = 100_000

  private let known = Mutex<[Scope: Int64]>([.public: ScopeTable.publicID])

  /// Nil for a scope that nothing was ever written in.
  func id(of scope: Scope, _ db: Database) throws -> Int64? {
    if let id = known.withLock({ $0[scope] }) { return id }
    guard let id = try ScopeTable.find(scope, db) else { return nil }
    known.withLock { known in
      if known.count >= Self.entriesMax { known = [.public: ScopeTable.publicID] }
      known[scope] = id
    }
    return id
  }
}
