import Cryptography
import Logging
import Model
import Storage
import Synchronization

/// Follows the change log for rules, from a cursor on disk.
///
/// Commits are noted as they come, with the scopes they touched, so that only these are looked
/// through; after a start all are. Each commit is told of by itself, however many come together, so
/// that what is said does not depend on when it is looked for. What rules make of a page is written
/// together with how far they have read, and what was said of an entity is remembered: whatever is
/// read again after a crash is not said again.
final class RuleReader: Sendable {
  private static let origin = "rule"
  private static let storePause = Duration.seconds(1)

  private struct Noted {
    /// Where reading begins, once that is known.
    var start: Revision?
    /// Nil: all of them.
    var scopes: Set<Scope>?
    /// The last commit that was told of. One that is visible and not told of yet may have touched
    /// other scopes, so the cursor never passes this.
    var head: Revision?
    var hasWork = true
  }

  private let store: Store
  private let rules: [PushRule]
  private let types: Set<String>
  private let maker: NotificationMaker
  private let surroundings: PushEnvironment
  private let bell: AsyncSignal
  private let outbox: AsyncSignal
  private let logger: Logger
  private let noted = Mutex(Noted())

  /// - Parameter outbox: rung when there is something to send.
  init(
    store: Store, rules: [PushRule], maker: NotificationMaker, surroundings: PushEnvironment,
    outbox: AsyncSignal, logger: Logger
  ) {
    self.store = store
    self.rules = rules
    self.maker = maker
    self.surroundings = surroundings
    self.outbox = outbox
    self.logger = logger
    types = Set(rules.map(\.type))
    bell = AsyncSignal(sleep: surroundings.sleep)
  }

  /// On the writer's thread: quick.
  func note(_ report: CommitReport) {
    guard !types.isEmpty else { return }
    let touched = report.changes.filter { types.contains($0.key.type) }.map(\.scope)
    let isWork = noted.withLock { noted in
      noted.head = report.head
      guard !touched.isEmpty else { return false }
      noted.scopes?.formUnion(touched)
      noted.hasWork = true
      return true
    }
    if isWork { bell.ring() }
  }

  /// Sets down where rules begin, if they never have: what is committed once this returns is theirs.
  /// If that fails, ``run()`` tries again, and says so.
  func prepare() async {
    guard !rules.isEmpty, let cursor = try? await begin() else { return }
    noted.withLock { $0.start = cursor }
  }

  private func begin() async throws(StorageError) -> Revision {
    try await store.ruleCursor(of: Set(rules.map(\.name)), types: types)
  }

  /// Runs until it is cancelled.
  func run() async {
    var cursor = noted.withLock { $0.start }
    while !Task.isCancelled {
      let rings = bell.rings
      do throws(StorageError) {
        guard let start = cursor else {
          cursor = try await begin()
          continue
        }
        if rules.isEmpty { return }
        guard let work = take() else {
          await bell.wait(past: rings)
          continue
        }
        cursor = try await read(since: start, work)
      } catch {
        // Which scopes were to be looked through is not known any more.
        noted.withLock { noted in
          noted.scopes = nil
          noted.hasWork = true
        }
        if error != .closed {
          logger.error("push rules could not read or write", metadata: ["cause": "\(error)"])
        }
        try? await surroundings.sleep(Self.storePause)
      }
    }
  }

  private func take() -> (scopes: Set<Scope>?, head: Revision)? {
    noted.withLock { noted in
      guard noted.hasWork else { return nil }
      defer {
        noted.hasWork = false
        noted.scopes = []
      }
      return (noted.scopes, noted.head ?? store.head)
    }
  }

  private func read(
    since cursor: Revision, _ work: (scopes: Set<Scope>?, head: Revision)
  ) async throws(StorageError) -> Revision {
    var place: RulePlace?
    while true {
      let page = try await store.ruleChanges(
        RuleQuery(types: types, since: cursor, scopes: work.scopes, place: place))
      let isLast = page.next == nil
      let count = try await store.tell(
        tellings(of: page.changes), read: page.read, cursor: isLast ? work.head : nil)
      if count > 0 { outbox.ring() }
      if isLast { return max(cursor, work.head) }
      place = page.next
    }
  }

  private func tellings(of changes: [RuleChanges.Change]) -> [RuleNotification] {
    changes.flatMap { change in
      rules.filter { $0.type == change.entity.type }.compactMap { telling($0, of: change) }
    }
  }

  /// An update is told where it changes what there is to say; so of what is new, that is remembered.
  private func telling(_ rule: PushRule, of change: RuleChanges.Change) -> RuleNotification? {
    if rule.event == .insert, !change.isNew { return nil }
    guard let saying = rule.saying(of: change.entity, change.fields) else { return nil }
    let content = saying.content
    let isSaid = rule.event == (change.isNew ? .insert : .update)
    let arrival =
      isSaid
      ? try? maker.arrival(
        of: saying.message, to: saying.userIDs, origin: Self.origin,
        key: "\(rule.name) \(change.entity) \(change.revision.value)", content: content) : nil
    return RuleNotification(
      rule: rule.name, entity: change.entity,
      content: Hexadecimal.encode(SHA256.hash(data: Array(content.utf8))), isNew: change.isNew,
      notification: arrival)
  }
}
