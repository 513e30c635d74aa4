import LosslessJSON
import TestSupport

/// A phone that enqueues mutations of every kind whose outcome can be unknown, until the service ends: those
/// that can be repeated, those with a status query, and those that only the phone can decide on.
struct QueueKindsLoad {
  static let phones = 2
  /// The prefix of films that exist to be deleted.
  static let droppedPrefix = "old-"

  static let operations = """
    query Look($id: ID!) { film(id: $id) { id title } }
    mutation Make($input: FilmInput!) { createFilm(input: $input) { id title } }
    mutation Rename($id: ID!, $patch: FilmPatch!) @sync(object: "Film:$id") {
      updateFilm(id: $id, patch: $patch) { id title }
    }
    mutation Put($id: ID!, $patch: FilmPatch!) @sync(object: "Film:$id", verify: "Look") {
      updateFilm(id: $id, patch: $patch) { id title }
    }
    mutation Drop($id: ID!) @sync(object: "Film:$id", verify: "Look")
    @effects(deletes: ["Film:$id"]) { deleteFilm(id: $id) }
    mutation Rate($id: ID!, $stars: Int!) @sync(object: "Film:$id", repeatable: true) {
      rateFilm(id: $id, stars: $stars) { id title }
    }
    """
  /// The operations that are parked if it is unknown whether they took effect.
  static let parking: Set<String> = ["Make", "Rename"]

  let port: Int
  let phone: Int
  let token: String
  /// Distinguishes the keys and films of one round from those of another.
  let round: Int
  let enqueued: EnqueuedMutations
  var random: SeededGenerator
  private var step = 0

  init(
    port: Int, phone: Int, token: String, round: Int, enqueued: EnqueuedMutations,
    random: SeededGenerator
  ) {
    self.port = port
    self.phone = phone
    self.token = token
    self.round = round
    self.enqueued = enqueued
    self.random = random
  }

  mutating func run() {
    guard let client = try? RawClient(port: port) else { return }
    do {
      while true {
        try enqueueSome(client)
        try Self.giveUpParked(client, headers: headers)
      }
    } catch {
      // The connection broke: the service has ended.
    }
  }

  private var headers: [(String, String)] { QueueLoad.headers(phone, token: token) }

  private mutating func enqueueSome(_ client: RawClient) throws {
    let number = "\(phone)-\(round)-\(step)"
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: try makeFilm(client)
    case 2:
      try enqueue(client, #""Put","variables":{"id":"put-\#(number)","patch":{"title":"P"}}"#)
    case 3:
      try enqueue(client, #""Drop","variables":{"id":"\#(Self.droppedPrefix)\#(number)"}"#)
    case 4: try rate("own-\(phone)", client)
    default: try rate("own-\(phone)", client, mode: "force")
    }
  }

  /// Creates a film under a temporary id, and mutations that depend on it.
  private mutating func makeFilm(_ client: RawClient) throws {
    let digits = String(1_000_000 * (phone + 1) + 10_000 * round + step)
    let id = "~01ARZ3NDEKTSV4RRFFQ69G5FAV".dropLast(digits.count) + digits
    try enqueue(
      client,
      #"""
      "Make","object":"Film:\#(id)","variables":{"input":{"title":"M","year":1999,"country":"FR"}}
      """#, mode: "steady")
    try rate(String(id), client)
    try enqueue(
      client, #""Rename","variables":{"id":"\#(id)","patch":{"title":"R"}}"#)
    try rate(String(id), client)
  }

  private mutating func rate(
    _ film: String, _ client: RawClient, mode: String? = nil
  ) throws {
    try enqueue(
      client, #""Rate","variables":{"id":"\#(film)","stars":\#(1 + step % 5)}"#, mode: mode)
  }

  /// - Parameter mode: nil for a random one.
  private mutating func enqueue(
    _ client: RawClient, _ change: String, mode: String? = nil
  ) throws {
    step += 1
    let mode = mode ?? (Bool.random(using: &random) ? "steady" : "lazy")
    let body = #"{"mode":"\#(mode)","operation":\#(change)}"#
    let key = "\(round)-\(phone)-\(step)"
    try enqueued.enqueue(
      EnqueuedMutations.Mutation(device: phone, key: key, body: body), mode: mode, headers: headers,
      client)
  }

  /// Settles the parked mutations, as the phone's decision; those that depend on them end too.
  ///
  /// - Returns: the parked mutations.
  @discardableResult
  static func giveUpParked(
    _ client: RawClient, headers: [(String, String)]
  ) throws -> [JSONValue] {
    let answer = try client.request(
      "GET", "/v1/mutations?state=parked&limit=200", headers: headers)
    let parked = try JSONValue(parsing: answer.body)["items"]?.array ?? []
    for mutation in parked {
      _ = try client.request(
        "POST", "/v1/mutations/\(mutation["id"]?.string ?? "")/discard", headers: headers,
        body: "{}")
    }
    return parked
  }
}
