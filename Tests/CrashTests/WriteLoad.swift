import LosslessJSON
import TestSupport

/// A connection that makes the service write until the connection breaks.
///
/// Each connection changes and deletes films of its own, and requests some counted films that no other
/// connection requests: so it knows which of two responses is the later one.
struct WriteLoad {
  static let connections = 6
  /// Films from this number on are changed or deleted; each connection has its own hundred.
  private static let firstChanged = 1500
  private static let filmsPerConnection = 100
  private static let changedPerConnection = 10

  let port: Int
  let promises: Promises
  let number: Int
  /// Distinguishes the marks and deletions of one round from those of another.
  let round: Int
  var random: SeededGenerator

  /// Whether a response shows a film that is being changed, so that the next one can differ.
  static func showsChangedFilms(_ body: [UInt8]) -> Bool {
    String(decoding: body, as: UTF8.self).matches(of: /"id":"f(\d+)"/)
      .contains { (Int($0.output.1) ?? 0) >= firstChanged }
  }

  /// Runs until the service ends.
  mutating func run() {
    guard let client = try? RawClient(port: port) else { return }
    var step = 0
    do {
      while true {
        step += 1
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: try change(step, client)
        case 2: try delete(step, client)
        default: try read(client)
        }
      }
    } catch {
      // The connection broke: the service has ended.
    }
  }

  private mutating func read(_ client: RawClient) throws {
    let read = randomRead()
    promises.noteSent(read)
    let answer = try client.request(
      "GET", read.target, headers: read.headers + [("Cache-Control", "no-cache")])
    let isPromise = answer.isStored && !Self.showsChangedFilms(answer.body)
    promises.noteResponse(read, isPromise ? answer.body : nil)
  }

  private mutating func randomRead() -> Promises.Read {
    let id = Int.random(in: 1..<Self.firstChanged, using: &random)
    let token = "user-\(["ada", "bob"][id % 2])"
    let own = number + Self.connections * (id % 8)
    let targets: [Promises.Read] = [
      Promises.Read(target: "/api/films/f\(id)"),
      Promises.Read(target: "/api/films/f\(id)"),
      Promises.Read(target: "/api/people/p\(id)"),
      Promises.Read(target: "/api/films?limit=\(own + 1)&offset=\(id)"),
      Promises.Read(target: "/api/film-pages?first=\(own + 1)"),
      Promises.Read(target: "/api/search?text=\(["the", "night", "river", "a"][id % 4])&limit=20"),
      Promises.Read(target: "/api/studios"),
      Promises.Read(target: "/api/films/f\(id)/mine", token: token),
      Promises.Read(target: "/api/me", token: token),
    ]
    return targets[Int.random(in: 0..<targets.count, using: &random)]
  }

  private mutating func change(_ step: Int, _ client: RawClient) throws {
    let place = Int.random(in: 0..<Self.changedPerConnection, using: &random)
    let film = film(place)
    // A film that was never read has no stored response in which a change could show.
    let before = try client.request(
      "GET", "/api/films/\(film)", headers: [("Cache-Control", "no-cache")])
    guard before.isStored else { return }
    let mark = "mark \(round)-\(number)-\(step)"
    // Two fields that no read selects without the other: lists have only the title, and can have a later one.
    let patch: JSONValue = ["synopsis": .string(mark), "tagline": .string(mark)]
    promises.noteSent(mark: mark, film: film)
    let answer = try client.mutate("UpdateFilm", ["id": .string(film), "patch": patch])
    if answer.status == 200 { promises.noteSettled(mark: mark, film: film) }
  }

  private mutating func delete(_ step: Int, _ client: RawClient) throws {
    let spare = Self.filmsPerConnection - Self.changedPerConnection
    let film = film(Self.changedPerConnection + (round * 7 + step) % spare)
    let before = try client.request(
      "GET", "/api/films/\(film)", headers: [("Cache-Control", "no-cache")])
    guard before.isStored else { return }
    promises.noteDeletion(of: film, isSettled: false)
    let answer = try client.mutate("DeleteFilm", ["id": .string(film)])
    if answer.status == 200 { promises.noteDeletion(of: film, isSettled: true) }
  }

  private func film(_ place: Int) -> String {
    "f\(Self.firstChanged + number * Self.filmsPerConnection + place)"
  }
}

extension RawClient {
  func mutate(_ operation: String, _ variables: JSONValue) throws -> RawResponse {
    try request(
      "POST", "/v1/operations/\(operation)", headers: [("Content-Type", "application/json")],
      body: String(decoding: variables.bytes, as: UTF8.self))
  }
}

extension RawResponse {
  var cacheStatus: String { self["cache-status"] ?? "" }
  /// Whether the service reports this response as stored.
  var isStored: Bool { status == 200 && cacheStatus.hasSuffix("; stored") }
}
