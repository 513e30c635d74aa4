import LosslessJSON
import Model
import Storage

/// Reads a store for two rules on films and records their notifications.
///
/// The content of a notification is the film's title; films without a title are skipped.
struct RuleFollower {
  static let insert = "Film insert director"
  static let update = "Film update director"

  let world: OutboxWorld
  private(set) var notifications: [String] = []
  private var cursor: Revision

  private init(_ world: OutboxWorld, cursor: Revision) {
    self.world = world
    self.cursor = cursor
  }

  static func open() async throws -> RuleFollower {
    let world = try OutboxWorld()
    let cursor = try await world.store.ruleCursor(of: [insert, update], types: ["Film"])
    return RuleFollower(world, cursor: cursor)
  }

  /// - Parameter isCutShort: whether to stop after the notifications are stored, with the old cursor.
  mutating func poll(isCutShort: Bool = false) async throws {
    let head = world.store.head
    var place: RulePlace?
    repeat {
      let page = try await world.store.ruleChanges(
        RuleQuery(types: ["Film"], since: cursor, scopes: nil, place: place))
      for change in page.changes { try await notify(change) }
      place = page.next
      _ = try await world.store.record(
        [], read: page.read, cursor: place == nil && !isCutShort ? head : nil)
    } while place != nil
    if !isCutShort { cursor = head }
  }

  private mutating func notify(_ change: RuleChanges.Change) async throws {
    guard let title = try JSONValue(parsing: change.fields)["title"]?.string else { return }
    for rule in [Self.insert, Self.update] where rule == Self.update || change.isNew {
      let isSent = rule == (change.isNew ? Self.insert : Self.update)
      let key = "\(rule) \(change.entity.key) \(title) at \(change.revision.value)"
      let entry = RuleNotification(
        rule: rule, entity: change.entity, content: title, isNew: change.isNew,
        notification: isSent ? world.arrival(key, origin: "rule") : nil)
      if try await world.store.record([entry], cursor: nil) == 1 { notifications.append(key) }
    }
  }
}
