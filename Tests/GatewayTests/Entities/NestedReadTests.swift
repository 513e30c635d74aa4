import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

@testable import Gateway

/// Reads with `include`, and views with nested fragments.
@Suite(.timeLimit(.minutes(10))) struct NestedReadTests {
  private static let film = NestedLibrary.film("f1")

  /// A film with a director and a cast of four, of which one is not stored.
  private static func filled() async throws -> NestedLibrary {
    let library = try NestedLibrary()
    try await library.write(
      film,
      [
        "id": "f1", "title": "Alien", "year": 1979,
        "director": .storedReference(to: NestedLibrary.person("p1")),
        "cast": NestedLibrary.people(["p3", "gone", "p2", "p1"]),
      ])
    for (id, name, born) in [("p1", "Ridley", 1937), ("p2", "Ash", 1931), ("p3", "Kane", 1940)] {
      try await library.write(
        NestedLibrary.person(id),
        [
          "id": .string(id), "name": .string(name), "born": .number(JSONNumber(born)),
          "films": NestedLibrary.films(["f1"]), "best": .storedReference(to: film),
        ])
    }
    return library
  }

  // MARK: include

  @Test("A to-one relationship is the entity in place of its id, as its own read shows it")
  func nestsOneEntity() async throws {
    let library = try await Self.filled()
    let (film, _) = try await library.entity(Self.film, "include=director")
    let director = try await library.entity(NestedLibrary.person("p1")).body
    #expect(film["director"] == director)
    let flat = try await library.entity(Self.film).body
    #expect(film.without("director", "_rev") == flat.without("director", "_rev"))
    #expect(flat["director"] == "p1")
  }

  @Test("A list has its own limit and order, and names itself where it has more members")
  func nestsLists() async throws {
    let library = try await Self.filled()
    var film = try await library.entity(Self.film, "include=cast").body
    #expect(film["cast"]?.list("id") == ["p3", "p2", "p1"])
    #expect(film["_more"] == nil)
    film = try await library.entity(Self.film, "include=cast(limit: 2, order: name)").body
    #expect(film["cast"]?.list("name") == ["Ash", "Kane"])
    #expect(film["_more"] == ["cast"])
    film = try await library.entity(Self.film, "include=cast(limit: 3, order: -born)").body
    #expect(film["cast"]?.list("name") == ["Kane", "Ridley", "Ash"])
    #expect(film["_more"] == nil)
  }

  @Test("A nested list is ordered by key paths as the relationship's own path is")
  func ordersByKeyPaths() async throws {
    let library = try await Self.filled()
    for (id, person, year) in [("f2", "p2", 1990), ("f3", "p3", 1980)] {
      let film = NestedLibrary.film(id)
      try await library.write(
        film, ["id": .string(id), "title": .string(id), "year": .number(JSONNumber(year))])
      try await library.write(
        NestedLibrary.person(person), ["best": .storedReference(to: film)])
    }
    for (order, ids) in [
      ("-best.year", ["p2", "p3", "p1"]), ("best.director.name,best.year", ["p3", "p2", "p1"]),
    ] {
      let film = try await library.entity(Self.film, "include=cast(order: \(order))").body
      #expect(film["cast"]?.list("id") == ids)
      let cast = try await library.related("cast", of: Self.film, "order=\(order)")
      #expect(cast["items"] == film["cast"])
    }
    let linked = try await library.entity(
      NestedLibrary.person("p1"), "include=directed(limit: 1, order: -director.best.year)"
    ).body
    #expect(linked["directed"]?.list("id") == ["f1"])
    let faults = try await library.faults(of: Self.film, "include=cast(order: best.yeer)")
    #expect(faults.count == 1 && faults[0].hasPrefix("the order of cast: Film has no column yeer"))
  }

  @Test(
    "A nested list is not ordered by entities that the caller may not read",
    arguments: ["agent.name", "name,-agent.name"])
  func refusesForbiddenOrders(_ order: String) async throws {
    let library = try NestedLibrary(
      gate: StoredDataGate(hasServiceCredentials: true, openTypes: ["Film", "Person"]))
    try await library.write(
      Self.film, ["id": "f1", "title": "Alien", "cast": NestedLibrary.people(["p1"])])
    #expect(try await library.films("include=cast(order: name)").count == 1)
    await #expect(throws: Failure.self) {
      try await library.films("include=cast(order: \(order))")
    }
    await #expect(throws: Failure.self) {
      try await library.entity(Self.film, "include=cast(order: \(order))")
    }
    let admin = Caller(isAdmin: true)
    #expect(try await library.films("include=cast(order: \(order))", by: admin).count == 1)
  }

  @Test("Two levels are nested, and below them are ids")
  func nestsTwoLevels() async throws {
    let library = try await Self.filled()
    let film = try await library.entity(Self.film, "include=director.best,director.directed").body
    #expect(film["director"]?["best"]?["title"] == "Alien")
    #expect(film["director"]?["best"]?["director"] == "p1")
    #expect(film["director"]?["directed"]?.list("id") == ["f1"])
  }

  @Test("Every entity of a page is nested, also where several lead to the same one")
  func nestsInPages() async throws {
    let library = try await Self.filled()
    try await library.write(
      NestedLibrary.film("f2"),
      [
        "id": "f2", "title": "Brazil", "year": 1985, "director": .null,
        "cast": NestedLibrary.people(["p1"]),
      ])
    let films = try await library.films("include=director,cast(limit: 1).directed", "order=title")
    #expect(films.map { $0["director"]?["name"] } == ["Ridley", nil])
    #expect(films.last?["director"] == JSONValue.null)
    #expect(films.map { $0["cast"]?.list("id") } == [["p3"], ["p1"]])
    #expect(films.last?["cast"]?[0]?["directed"]?.list("id") == ["f1"])
  }

  @Test("What is not stored is named, and a deleted entity is null")
  func namesWhatIsNotStored() async throws {
    let library = try await Self.filled()
    try await library.write(
      NestedLibrary.film("f2"),
      [
        "id": "f2", "title": "Brazil",
        "director": .storedReference(to: NestedLibrary.person("unknown")),
      ])
    let film = try await library.entity(
      NestedLibrary.film("f2"), "include=director,cast"
    ).body
    #expect(film["_missing"] == ["director", "cast"])
    #expect(film["director"]?.without("_rev") == ["__typename": "Person", "id": "unknown"])
    #expect(film["cast"] == nil)
    try await library.delete(NestedLibrary.person("p1"))
    let other = try await library.entity(Self.film, "include=director,cast").body
    #expect(other["director"] == JSONValue.null)
    #expect(other["cast"]?.list("id") == ["p3", "p2"])
  }

  @Test(
    "Faults of include are reported together",
    arguments: [
      ("include=directr", ["Film has no relationship directr; it has cast, director"]),
      ("include=title,cast.films.best", ["levels"]),
      ("include=director(limit: 2)", ["director is a to-one relationship"]),
      (
        "include=cast(order: nam).x,studio",
        ["the order of cast", "Person has no relationship x", "Film has no relationship studio"]
      ),
      ("include=cast(limit: 100).films(limit: 100),director.films(limit: 100)", []),
    ])
  func reportsFaults(parameter: String, words: [String]) async throws {
    let library = try await Self.filled()
    let faults = try await library.faults(of: Self.film, parameter)
    #expect(faults.count == words.count, "\(faults)")
    for (fault, words) in zip(faults, words) { #expect(fault.contains(words), "\(faults)") }
  }

  @Test("The number of entities that a page can nest is bounded before it is read")
  func boundsNestedEntities() async throws {
    let library = try await Self.filled()
    _ = try await library.films("include=cast(limit: 20)", "limit=1000")
    for parameter in ["include=cast(limit: 21)", "include=cast(limit: 5).films(limit: 4)"] {
      do {
        _ = try await library.films(parameter, "limit=1000")
        Issue.record("\(parameter) was not refused")
      } catch let failure as Failure {
        #expect(failure.code == .malformedRequest)
        #expect(failure.details.first?.detail.contains("the maximum is 20000") == true)
      }
    }
  }

  // MARK: Views

  @Test("A view with a nested fragment shows the nested entity's fields by its own names")
  func viewNestsFragments() async throws {
    let library = try await Self.filled()
    let film = try await library.entity(Self.film, "view=FilmMaker").body
    #expect(film["naam"] == "Alien")
    #expect(film["maker"]?["fullName"] == "Ridley")
    #expect(film["maker"]?["__typename"] == "Person")
    #expect(film["maker"]?["id"] == "p1")
    #expect(film["maker"]?["_rev"]?.string != nil)
    #expect(film["maker"]?["born"] == nil)
    let deep = try await library.entity(Self.film, "view=FilmDeep", "include=cast(limit: 1)").body
    #expect(deep["cast"]?.list("id") == ["p3"])
    let director = deep["cast"]?[0]?["best"]?["director"]
    #expect(deep["cast"]?[0]?["best"]?["title"] == "Alien")
    #expect(director == "p1")
    #expect(deep["_more"] == ["cast"])
  }

  @Test(
    "A change that a view does not show changes neither its entity tag nor its revision")
  func viewHasItsOwnRevision() async throws {
    let library = try await Self.filled()
    func read(_ view: String) async throws -> [String] {
      let (body, tag) = try await library.entity(Self.film, "view=\(view)")
      return [tag, try #require(body["_rev"]?.string)]
    }
    let (title, maker) = (try await read("FilmTitle"), try await read("FilmMaker"))
    let whole = try await library.entity(Self.film)
    try await library.write(Self.film, ["year": 1980])
    try await library.write(NestedLibrary.person("p1"), ["born": 1938])
    #expect(try await read("FilmTitle") == title)
    #expect(try await read("FilmMaker") == maker)
    #expect(try await library.entity(Self.film).tag != whole.tag)
    try await library.write(NestedLibrary.person("p1"), ["name": "Sir Ridley"])
    #expect(try await read("FilmTitle") == title)
    let renamed = try await read("FilmMaker")
    #expect(zip(renamed, maker).allSatisfy { $0 != $1 })
    try await library.write(Self.film, ["title": "Alien 2"])
    let (titled, last) = (try await read("FilmTitle"), try await read("FilmMaker"))
    #expect(zip(titled, title).allSatisfy { $0 != $1 })
    #expect(zip(last, renamed).allSatisfy { $0 != $1 })
  }

  @Test("The rows of a list with nested entities change with what is nested, and only then")
  func rowsFollowWhatIsNested() async throws {
    let library = try await Self.filled()
    func rows() async throws -> [ListVector.Row] {
      ListVector(
        try await library.reader.list(
          of: "Film", parameters: [.init("view", "FilmMaker")], caller: .anonymous
        ).documents
      ).rows
    }
    let former = try await rows()
    try await library.write(NestedLibrary.person("p1"), ["born": 1900])
    #expect(try await rows() == former)
    try await library.write(NestedLibrary.person("p1"), ["name": "R"])
    #expect(try await rows() != former)
    #expect(try await rows().map(\.id) == former.map(\.id))
  }

  @Test(
    "The tag and the revision of a read with nested entities are conditions of a write to the entity",
    arguments: ["include=director", "view=FilmMaker", "view=FilmTitle"])
  func tagIsAWriteCondition(parameter: String) async throws {
    let library = try await Self.filled()
    let (body, tag) = try await library.entity(Self.film, parameter)
    let revision = try #require(body["_rev"]?.string)
    func isCurrent(_ validator: String) async throws -> Bool {
      let record = try #require(try await library.store.entity(Self.film, viewer: .anonymous))
      return try library.reader.renderer.isCurrent([validator], of: Self.film, record)
    }
    #expect(try await isCurrent(tag))
    #expect(try await isCurrent(revision))
    #expect(try await isCurrent("other") == false)
    // What is nested belongs to another entity.
    try await library.write(NestedLibrary.person("p1"), ["name": "R"])
    #expect(try await isCurrent(tag))
    try await library.write(Self.film, ["title": "Alien 2"])
    #expect(try await isCurrent(tag) == false)
    #expect(try await isCurrent(revision) == false)
  }

  // MARK: Callers

  @Test("Types that a caller may not read are not nested")
  func closedTypesAreNotNested() async throws {
    let library = try NestedLibrary(
      gate: StoredDataGate(hasServiceCredentials: true, openTypes: ["Film"]))
    try await library.write(
      Self.film, ["id": "f1", "title": "Alien", "director": .null, "cast": []])
    _ = try await library.entity(Self.film)
    for parameter in ["include=director", "include=cast", "view=FilmMaker"] {
      for read in [0, 1, 2] {
        do throws(Failure) {
          let parameters = [
            CollectionRequest.Parameter(
              String(parameter.prefix { $0 != "=" }),
              String(parameter.drop { $0 != "=" }.dropFirst()))
          ]
          switch read {
          case 0:
            _ = try await library.reader.entity(
              Self.film, parameters: parameters, caller: .anonymous)
          case 1:
            _ = try await library.reader.collection(
              of: "Film", parameters: parameters, caller: .anonymous)
          default:
            try library.reader.admit(
              .anonymous, to: ListQuestion(.type("Film"), parameters: parameters))
          }
          Issue.record("\(parameter) was read")
        } catch {
          #expect(error.code == .unauthenticated, "\(parameter): \(error)")
        }
      }
    }
  }
}
