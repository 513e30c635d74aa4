import Model
import Synchronization

/// The accounts that operators have disabled, in memory, since every request is checked against them.
///
/// The store has the same ids. They are read before the first request, changed here after each commit that
/// changes them and before its response, and read again where the log of a cluster changes them.
package final class DisabledAccounts: Sendable {
  private let ids: Mutex<Set<String>>
  /// Spares requests the lock while no account is disabled.
  private let isEmpty: Atomic<Bool>

  package init(_ ids: Set<String> = []) {
    self.ids = Mutex(ids)
    isEmpty = Atomic(ids.isEmpty)
  }

  /// Throws ``Model/Failure/Code/accountDisabled`` for a disabled user.
  ///
  /// - Parameter user: nil for a caller without a user, who passes.
  func admit(_ user: String?) throws(Failure) {
    guard let user, !isEmpty.load(ordering: .acquiring) else { return }
    if ids.withLock({ $0.contains(user) }) { throw Failure.accountDisabled }
  }

  func insert(_ id: String) {
    ids.withLock { ids in
      ids.insert(id)
      isEmpty.store(false, ordering: .releasing)
    }
  }

  func remove(_ id: String) {
    ids.withLock { ids in
      ids.remove(id)
      isEmpty.store(ids.isEmpty, ordering: .releasing)
    }
  }

  /// - Returns: the ids that were not among the former ones.
  func replace(with new: Set<String>) -> Set<String> {
    ids.withLock { ids in
      let added = new.subtracting(ids)
      ids = new
      isEmpty.store(new.isEmpty, ordering: .releasing)
      return added
    }
  }
}
