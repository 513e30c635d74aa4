import LosslessJSON
import TestSupport

/// One connection that makes the service write, until the connection breaks.
///
/// Each connection changes and deletes films of its own, and of answers that count films it asks
/// for some that no other connection asks for: so it knows which answer of two is the later one.
struct WriteLoad {
  static let connections = 6
  /// Films from here on are changed or deleted; each connection has its own hundred.
  private static let firstChanged = 1500
  private static let filmsPerConnection = 100
  private static let changedPerConnection = 10

  let port: Int
  let kept: Kept
  let number: Int
  /// Tells marks and deletions of one round from those of another.
  let round: Int
  var random: SeededGenerator

  /// Whether an answer shows a film that someone changes, so that it may differ the next time.
  static func showsChangedFilms(_ body: [UInt8]) -> Bool {
    String(decoding: body, as: UTF8.self).matches(of: /"id":"f(\d+)"/)
      .contains { (Int($0.output.1) ?? 0) >= firstChanged }
  }

  /// Runs until the service goes away.
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
      // The connection broke: the service was ended.
    }
  }

  private mutating func read(_ client: RawClient) throws {
    let read = randomRead()
    kept.noteSent(read)
    let answer = try client.request(
      "GET", read.target, headers: read.headers + [("Cache-Control", "no-cache")])
    let isPromise = answer.isStored && !Self.showsChangedFilms(answer.body)
    kept.noteAnswered(read, isPromise ? answer.body : nil)
  }

  private mutating func randomRead() -> Kept.Read {
    let id = Int.random(in: 1..<Self.firstChanged, using: &random)
    let token = "user-\(["ada", "bob"][id % 2])"
    let own = number + Self.connections * (id % 8)
    let targets: [Kept.Read] = [
      Kept.Read(target: "/api/films/f\(id)"),
      Kept.Read(target: "/api/films/f\(id)"),
      Kept.Read(target: "/api/people/p\(id)"),
      Kept.Read(target: "/api/films?limit=\(own + 1)&offset=\(id)"),
      Kept.Read(target: "/api/film-pages?first=\(own + 1)"),
      Kept.Read(target: "/api/search?text=\(["the", "night", "river", "a"][id % 4])&limit=20"),
      Kept.Read(target: "/api/studios"),
      Kept.Read(target: "/api/films/f\(id)/mine", token: token),
      Kept.Read(target: "/api/me", token: token),
    ]
    return targets[Int.random(in: 0..<targets.count, using: &random)]
  }

  private mutating func change(_ step: Int, _ client: RawClient) throws {
    let place = Int.random(in: 0..<Self.changedPerConnection, using: &random)
    let film = film(place)
    // What was never read has no stored answer that a change could show in.
    let before = try client.request(
      "GET", "/api/films/\(film)", headers: [("Cache-Control", "no-cache")])
    guard before.isStored else { return }
    let mark = "mark \(round)-\(number)-\(step)"
    // Two fields that no read asks for apart: lists know the title alone, and may know a later one.
    let patch: JSONValue = ["synopsis": .string(mark), "tagline": .string(mark)]
    kept.noteSent(mark: mark, film: film)
    let answer = try client.mutate("UpdateFilm", ["id": .string(film), "patch": patch])
    if answer.status == 200 { kept.noteSettled(mark: mark, film: film) }
  }

  private mutating func delete(_ step: Int, _ client: RawClient) throws {
    let spare = Self.filmsPerConnection - Self.changedPerConnection
    let film = film(Self.changedPerConnection + (round * 7 + step) % spare)
    let before = try client.request(
      "GET", "/api/films/\(film)", headers: [("Cache-Control", "no-cache")])
    guard before.isStored else { return }
    kept.noteDeletion(of: film, isSettled: false)
    let answer = try client.mutate("DeleteFilm", ["id": .string(film)])
    if answer.status == 200 { kept.noteDeletion(of: film, isSettled: true) }
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
  /// Whether the service says that it keeps this answer.
  var isStored: Bool { status == 200 && cacheStatus.hasSuffix("; stored") }
}
