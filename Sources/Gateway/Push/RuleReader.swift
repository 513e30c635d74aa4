import Cryptography
import Logging
import Model
import Storage
import Synchronization
import Transport

/// Follows the change log for push rules, from a cursor on disk.
///
/// Commits are recorded with the scopes they touched, so that only these are searched; after a
/// start all are. Each commit is processed separately, however many arrive together, so that the
/// notifications do not depend on timing. The notifications of a page and the reading position are
/// stored in one transaction, and the content last sent for an entity is stored: changes read again
/// after a crash send nothing again.
final class RuleReader: Sendable {
  private static let origin = "rule"
  private static let storePause = Duration.seconds(1)

  private struct Pending {
    /// The start of reading, once known.
    var start: Revision?
    /// The touched scopes; nil for all.
    var scopes: Set<Scope>?
    /// The last reported commit. A visible commit that is not reported yet can have touched other
    /// scopes, so the cursor never passes this one.
    var head: Revision?
    var hasWork = true
  }

  private let store: Store
  private let rules: [PushRule]
  private let types: Set<String>
  private let maker: NotificationMaker
  private let environment: PushEnvironment
  private let signal: AsyncSignal
  private let outbox: AsyncSignal
  private let logger: Logger
  private let pending = Mutex(Pending())

  /// - Parameter outbox: notified when there is something to send.
  init(
    store: Store, rules: [PushRule], maker: NotificationMaker, environment: PushEnvironment,
    outbox: AsyncSignal, logger: Logger
  ) {
    self.store = store
    self.rules = rules
    self.maker = maker
    self.environment = environment
    self.outbox = outbox
    self.logger = logger
    types = Set(rules.map(\.type))
    signal = AsyncSignal(sleep: environment.sleep)
  }

  /// Records a commit; runs on the writer's thread, so it must be quick.
  func note(_ report: CommitReport) {
    guard !types.isEmpty else { return }
    let touched = report.changes.filter { types.contains($0.key.type) }.map(\.scope)
    let isWork = pending.withLock { pending in
      pending.head = report.head
      guard !touched.isEmpty else { return false }
      pending.scopes?.formUnion(touched)
      pending.hasWork = true
      return true
    }
    if isWork { signal.notify() }
  }

  /// Stores the start of the rules, unless already stored: rules apply to everything committed
  /// after this returns. If that fails, ``run()`` tries again and logs it.
  func prepare() async {
    guard !rules.isEmpty, let cursor = try? await begin() else { return }
    pending.withLock { $0.start = cursor }
  }

  private func begin() async throws(StorageError) -> Revision {
    try await store.ruleCursor(of: Set(rules.map(\.name)), types: types)
  }

  /// Runs until cancelled.
  func run() async {
    var cursor = pending.withLock { $0.start }
    while !Task.isCancelled {
      let seen = signal.count
      do throws(StorageError) {
        guard let start = cursor else {
          cursor = try await begin()
          continue
        }
        if rules.isEmpty { return }
        guard let work = take() else {
          await signal.wait(after: seen)
          continue
        }
        cursor = try await read(since: start, work)
      } catch {
        // The scopes to search are no longer known.
        pending.withLock { pending in
          pending.scopes = nil
          pending.hasWork = true
        }
        if error != .closed {
          logger.error("push rules could not read or write", metadata: ["cause": "\(error)"])
        }
        try? await environment.sleep(Self.storePause)
      }
    }
  }

  private func take() -> (scopes: Set<Scope>?, head: Revision)? {
    pending.withLock { pending in
      guard pending.hasWork else { return nil }
      defer {
        pending.hasWork = false
        pending.scopes = []
      }
      return (pending.scopes, pending.head ?? store.head)
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
      let count = try await store.record(
        notifications(of: page.changes), read: page.read, cursor: isLast ? work.head : nil)
      if count > 0 { outbox.notify() }
      if isLast { return max(cursor, work.head) }
      place = page.next
    }
  }

  private func notifications(of changes: [RuleChanges.Change]) -> [RuleNotification] {
    changes.flatMap { change in
      rules.filter { $0.type == change.entity.type }.compactMap { notification($0, of: change) }
    }
  }

  /// An update sends a notification only if it changes the notification's content, so the content
  /// of a new entity is stored too.
  private func notification(_ rule: PushRule, of change: RuleChanges.Change) -> RuleNotification? {
    if rule.event == .insert, !change.isNew { return nil }
    guard let found = rule.notification(for: change.entity, change.fields) else { return nil }
    let content = found.content
    let isSent = rule.event == (change.isNew ? .insert : .update)
    let arrival =
      isSent
      ? try? maker.arrival(
        of: found.message, to: found.userIDs, origin: Self.origin,
        key: "\(rule.name) \(change.entity) \(change.revision.value)", content: content) : nil
    return RuleNotification(
      rule: rule.name, entity: change.entity,
      content: Hexadecimal.encode(SHA256.hash(data: Array(content.utf8))), isNew: change.isNew,
      notification: arrival)
  }
}
