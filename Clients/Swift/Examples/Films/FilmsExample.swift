import Foundation
import Larder

/// Films in the terminal, with and without a network.
///
///   larder-films URL FOLDER list WORD      films whose title contains a word
///   larder-films URL FOLDER rate ID STARS  rates a film, now or when there is a network
///   larder-films URL FOLDER outbox         what waits, and how it ended
///   larder-films URL FOLDER watch          newer films as they change, until Control-C
@main
struct FilmsExample {
  static func main() async {
    let words = CommandLine.arguments.dropFirst()
    guard words.count >= 3, let address = words.first, let url = URL(string: address) else {
      print("usage: larder-films URL FOLDER list|rate|outbox|watch …")
      exit(64)
    }
    do {
      try await run(url, URL(fileURLWithPath: words.dropFirst().first ?? "."), words.dropFirst(2))
    } catch {
      print(error)
      exit(1)
    }
  }

  private static func run(_ url: URL, _ folder: URL, _ words: ArraySlice<String>) async throws {
    let larder = try await Larder(
      url: url, store: .file(folder.appendingPathComponent("films.sqlite")))
    try await larder.register()
    try await larder.follow("films", types: [Film.typeName])
    let words = Array(words)
    switch words[0] {
    case "list":
      await refresh(larder)
      let word = words.count > 1 ? words[1] : ""
      let films = try await larder.read { db in
        try Film.filter(.contains(\.title, word)).order(\.title).limit(20).fetchAll(db)
      }
      for film in films { print(line(film)) }
    case "rate" where words.count == 3:
      guard let stars = Int(words[2]) else {
        throw LarderError.invalidArgument("STARS is a number.")
      }
      let id = words[1]
      let rated = OptimisticChange(
        .merge, type: Film.typeName, id: id, fields: ["myStars": .number(JSONNumber(stars))])
      try await larder.lazy(
        RateFilm(variables: RateFilm.Variables(id: id, stars: stars)), object: "Film:\(id)",
        optimistic: [rated])
      await refresh(larder)
      if let film = try await larder.read({ db in try Film.fetchOne(db, key: id) }) {
        print(line(film))
      }
    case "outbox":
      await refresh(larder)
      for item in try await larder.outbox() { print(item.operation, item.state) }
      for outcome in try await larder.outcomes() { print(outcome.operation, outcome.state) }
    case "watch":
      let running = Task { await larder.run() }
      defer { running.cancel() }
      for try await update in larder.observe(Film.filter(\.year > 1990).order(\.title).limit(20)) {
        let diff = update.diff
        print(
          "\(diff.deletes.count) gone, \(diff.inserts.count) new, \(diff.updates.count) changed")
        for film in update.items { print(line(film)) }
      }
    default:
      throw LarderError.invalidArgument("There is no command \(words.joined(separator: " ")).")
    }
  }

  /// Sends and syncs; without a network the films of the last time are shown.
  private static func refresh(_ larder: Larder) async {
    do {
      try await larder.send()
      try await larder.sync()
    } catch {
      print("(\(error))")
    }
  }

  private static func line(_ film: Film) -> String {
    let stars = film.myStars.map { String(repeating: "*", count: $0) } ?? ""
    return "\(film.id)  \(film.title ?? "?") (\(film.year.map(String.init) ?? "?"))  \(stars)"
  }
}
