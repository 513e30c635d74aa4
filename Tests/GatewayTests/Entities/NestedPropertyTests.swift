import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

@testable import Gateway

/// A nested read shows what the reads of its parts show to the same caller, whatever the scopes hold.
@Suite(.timeLimit(.minutes(10))) struct NestedPropertyTests {
  private struct Chance: SeededChance {
    var generator: SeededGenerator
  }

  private static let scopes: [Scope] = [.public, .user("ada")]

  @Test(
    "Nested entities are those that the caller's own reads of the relationships show",
    arguments: [2, 11, 77, 2026] as [UInt64])
  func nestedReadsEqualFlatReads(seed: UInt64) async throws {
    let library = try NestedLibrary()
    var chance = Chance(generator: SeededGenerator(seed: seed))
    for step in 0..<80 {
      try await Self.act(in: library, &chance)
      guard step % 8 == 7 else { continue }
      for caller in [Caller.anonymous, NestedLibrary.ada] {
        try await Self.compare(library, caller, "seed \(seed), step \(step)")
      }
    }
  }

  /// One write or deletion in one scope; people 7 to 9 are never stored.
  private static func act(in library: NestedLibrary, _ chance: inout Chance) async throws {
    let scope = chance.percent(60) ? scopes[0] : scopes[1]
    let film = NestedLibrary.film("f\(chance.number(0...5))")
    let person = NestedLibrary.person("p\(chance.number(0...6))")
    switch chance.number(0...9) {
    case 0: try await library.delete(person, in: scope)
    case 1: try await library.delete(film, in: scope)
    case 2...5:
      var people: [String] = []
      for _ in 0..<chance.number(0...5) { people.append("p\(chance.number(0...9))") }
      let director: JSONValue =
        chance.percent(20)
        ? .null : .storedReference(to: NestedLibrary.person("p\(chance.number(0...9))"))
      try await library.write(
        film,
        [
          "id": .string(film.key), "title": .string("T\(chance.number(0...99))"),
          "director": director, "cast": NestedLibrary.people(people),
        ], in: scope)
    default:
      var films: [String] = []
      for _ in 0..<chance.number(0...4) { films.append("f\(chance.number(0...7))") }
      var value: [JSONMember] = [
        JSONMember("id", .string(person.key)),
        JSONMember("films", NestedLibrary.films(films)),
      ]
      if chance.percent(70) {
        value.append(JSONMember("name", .string("N\(chance.number(0...9))")))
      }
      try await library.write(person, .object(value), in: scope)
    }
  }

  private static func compare(
    _ library: NestedLibrary, _ caller: Caller, _ note: String
  ) async throws {
    let flat = try await library.films("order=id", by: caller)
    let nested = try await library.films(
      "order=id", "include=director,cast(limit: 2, order: -name)", by: caller)
    #expect(nested.count == flat.count, "\(note)")
    for (own, film) in zip(flat, nested) {
      let key = NestedLibrary.film(own["id"]?.string ?? "")
      let note = "\(note), \(key)"
      #expect(
        film.without("director", "cast", "_more", "_missing", "_rev")
          == own.without("director", "_rev"), "\(note)")
      try await compareDirector(of: film, own, library, caller, note)
      if own["director"] == nil { continue }
      let cast = try await library.related(
        "cast", of: key, "limit=2", "order=-name", by: caller)
      #expect(film["cast"] == cast["items"], "\(note)")
      #expect((film["_more"] != nil) == (cast["next"] != nil), "\(note)")
    }
    try await compareSecondLevel(library, caller, note)
  }

  private static func compareDirector(
    of film: JSONValue, _ own: JSONValue, _ library: NestedLibrary, _ caller: Caller, _ note: String
  ) async throws {
    guard let id = own["director"]?.string else {
      #expect(film["director"] == own["director"], "\(note)")
      return
    }
    do throws(Failure) {
      let read = try await library.reader.entity(
        NestedLibrary.person(id), parameters: [], caller: caller)
      #expect((film["director"]?.bytes ?? []) == read.body, "\(note)")
    } catch {
      if error.code == .deleted {
        #expect(film["director"] == JSONValue.null, "\(note)")
      } else {
        #expect(error.code == .notFound, "\(note): \(error)")
        #expect(film["director"]?["id"]?.string == id, "\(note)")
        #expect(film["_missing"]?.array?.contains("director") == true, "\(note)")
      }
    }
  }

  private static func compareSecondLevel(
    _ library: NestedLibrary, _ caller: Caller, _ note: String
  ) async throws {
    let films = try await library.films(
      "include=cast(limit: 3).films(limit: 2),cast.directed(limit: 1)", by: caller)
    for person in films.flatMap({ $0["cast"]?.array ?? [] }) {
      let key = NestedLibrary.person(person["id"]?.string ?? "")
      let expected = try await library.related("films", of: key, "limit=2", by: caller)
      #expect(person["films"] == expected["items"], "\(note), \(key)")
      let directed = try await library.related("directed", of: key, "limit=1", by: caller)
      #expect(person["directed"] == directed["items"], "\(note), \(key)")
    }
  }
}
