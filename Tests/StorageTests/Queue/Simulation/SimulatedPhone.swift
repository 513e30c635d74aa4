import Model
import TestSupport

/// The model of a client: its intended changes, the responses it received, and its own copy of the
/// change log.
struct SimulatedPhone {
  /// A change it wants, under the key it gave it.
  struct Wish: Hashable {
    let key: String
    var change: SimulatedChange
  }

  let device: String
  /// Enqueued, without a response so far.
  private(set) var unanswered: [Wish] = []
  /// Acknowledged by the store.
  private(set) var acknowledged: [MutationID: Wish] = [:]
  /// The temporary ids of all films that it wanted to create.
  private(set) var temporary: [TemporaryID] = []
  var follower: LogFollower
  private let number: Int
  private var wishCount = 0

  init(number: Int) {
    self.number = number
    device = "d_\(number)"
    follower = LogFollower(Viewer(layers: [.device(device), .public]))
  }

  var viewer: Viewer { follower.viewer }

  mutating func acknowledge(_ wish: Wish, as id: MutationID) {
    acknowledged[id] = wish
    unanswered.removeAll { $0 == wish }
  }

  mutating func giveUp(_ wishes: [Wish]) {
    unanswered.removeAll(where: wishes.contains)
  }

  // MARK: Wishing

  mutating func makeWish(_ chance: inout SimulatedChance) -> Wish {
    wishCount += 1
    let modes: [MutationMode] = [.lazy, .lazy, .lazy, .steady, .force]
    let rules: [UnknownOutcomeRule] = [.sendAgain, .verify(operation: "FilmState"), .park]
    var change = SimulatedChange(
      mode: chance.pick(modes) ?? .lazy, effect: .update, rule: chance.pick(rules) ?? .park,
      film: anyFilm(&chance), value: chance.number(1...250),
      isOptimistic: !chance.percent(10))
    switch chance.number(0...9) {
    case 0..<3: makeFilm(of: &change)
    case 3: deleteFilm(of: &change)
    case 4..<6: change.link = anyFilm(&chance)
    default: break
    }
    let wish = Wish(key: "key-\(wishCount)", change: change)
    unanswered.append(wish)
    return wish
  }

  private mutating func makeFilm(of change: inout SimulatedChange) {
    let digits = String(10_000 * (number + 1) + wishCount)
    let text = "~01ARZ3NDEKTSV4RRFFQ69G5FAV".dropLast(digits.count) + digits
    guard let id = TemporaryID(String(text)) else { preconditionFailure("\(text) is a ULID") }
    temporary.append(id)
    change.effect = .create
    change.film = id.value
  }

  /// Often deletes the film created last, which no other mutation may have mentioned.
  private func deleteFilm(of change: inout SimulatedChange) {
    change.effect = .delete
    if let id = temporary.last { change.film = id.value }
  }

  /// Returns one of upstream's films or, most often, one of its own latest.
  private func anyFilm(_ chance: inout SimulatedChance) -> String {
    if chance.percent(60), let id = chance.pick(temporary.suffix(3)) { return id.value }
    return chance.percent(50) ? "1" : "2"
  }
}
