import LosslessJSON
import Model
import Storage

/// Reads a store for two rules over films, and keeps what they told.
///
/// A film is told of by its title; one without a title is told of to nobody.
struct RuleFollower {
  static let insert = "Film insert director"
  static let update = "Film update director"

  let world: OutboxWorld
  private(set) var told: [String] = []
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

  /// - Parameter isCutShort: what was told is on disk, and the cursor stays where it was.
  mutating func look(isCutShort: Bool = false) async throws {
    let head = world.store.head
    var place: RulePlace?
    repeat {
      let page = try await world.store.ruleChanges(
        RuleQuery(types: ["Film"], since: cursor, scopes: nil, place: place))
      for change in page.changes { try await tell(change) }
      place = page.next
      _ = try await world.store.tell(
        [], read: page.read, cursor: place == nil && !isCutShort ? head : nil)
    } while place != nil
    if !isCutShort { cursor = head }
  }

  private mutating func tell(_ change: RuleChanges.Change) async throws {
    guard let title = try JSONValue(parsing: change.fields)["title"]?.string else { return }
    for rule in [Self.insert, Self.update] where rule == Self.update || change.isNew {
      let isSaid = rule == (change.isNew ? Self.insert : Self.update)
      let key = "\(rule) \(change.entity.key) \(title) at \(change.revision.value)"
      let telling = RuleNotification(
        rule: rule, entity: change.entity, content: title, isNew: change.isNew,
        notification: isSaid ? world.arrival(key, origin: "rule") : nil)
      if try await world.store.tell([telling], cursor: nil) == 1 { told.append(key) }
    }
  }
}
