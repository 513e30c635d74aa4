import Model
import Synchronization

/// A stream's part in a followed list, which ends when it is released.
final class ListSubscription: Sendable {
  let list: SharedList
  let owner: CallerOwner
  private let lists: LiveLists
  /// The bytes of the event that waits for the client, as they are counted.
  private let waiting = Mutex(0)

  init(list: SharedList, owner: CallerOwner, lists: LiveLists) {
    self.list = list
    self.owner = owner
    self.lists = lists
  }

  deinit {
    hold(0)
    lists.release(list, owner)
  }

  /// Counts the first event before it is rendered.
  ///
  /// - Throws: ``Failure/Code/overloaded`` if too many of the owner's events wait.
  func reserve(_ byteCount: Int) throws(Failure) {
    try lists.ledger.admit(byteCount, of: owner)
    hold(byteCount)
  }

  /// Counts the event that waits now, instead of the former one.
  func hold(_ byteCount: Int) {
    let added = waiting.withLock { waiting in
      defer { waiting = byteCount }
      return byteCount - waiting
    }
    if added != 0 { lists.ledger.note(events: added, of: owner) }
  }
}
