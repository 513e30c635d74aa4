import Foundation
import Larder

/// Films in the terminal, with and without a network.
///
///   larder-films URL FOLDER list WORD        films whose title contains a word
///   larder-films URL FOLDER tagline ID TEXT  gives a film a tagline, now or when there is a network
///   larder-films URL FOLDER outbox           what waits, and how it ended
///   larder-films URL FOLDER watch            newer films as they change, until Control-C
@main
struct FilmsExample {
  static func main() async {
    let words = CommandLine.arguments.dropFirst()
    guard words.count >= 3, let address = words.first, let url = URL(string: address) else {
      print("usage: larder-films URL FOLDER list|tagline|outbox|watch …")
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
    case "tagline" where words.count == 3:
      let (id, tagline) = (words[1], words[2])
      let changed = OptimisticChange(
        .merge, type: Film.typeName, id: id, fields: ["tagline": .string(tagline)])
      try await larder.lazy(
        .updateFilm(id: id, patch: FilmPatch(tagline: tagline)), object: "Film:\(id)",
        optimistic: [changed])
      await refresh(larder)
      if let film = try await larder.read({ db in try Film.fetchOne(db, key: id) }) {
        print(line(film))
      }
    case "outbox":
      await refresh(larder)
      for item in try await larder.outbox() { print(item.operation, item.state) }
      for outcome in try await larder.outcomes() { print(outcome.operation, outcome.state) }
    case "watch":
      await refresh(larder)
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

  /// Sends and syncs; without a network the films of the last time are shown. The query has Larder fetch the
  /// films from the API; the sync brings them to the phone.
  private static func refresh(_ larder: Larder) async {
    do {
      try await larder.send()
      _ = try await larder.query("Films", variables: ["limit": 100])
      try await larder.sync()
    } catch {
      print("(\(error))")
    }
  }

  private static func line(_ film: Film) -> String {
    let tagline = film.tagline.map { ": \($0)" } ?? ""
    return "\(film.id)  \(film.title ?? "?") (\(film.year.map(String.init) ?? "?"))\(tagline)"
  }
}
