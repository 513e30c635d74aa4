import FoundationEssentials
import Gateway
import LosslessJSON
import Model
import Storage
import TestSupport
import Upstream

/// Pages of 50 among 20,000 films with related people, flat and with two levels of nested entities; compared with
/// the flat page of the same rows, and with a flat page of as many entities.
enum NestedBenchmark {
  private static let films = 20_000
  private static let people = 2_000
  private static let pages = 50
  private static let rows = 50
  /// One entity for each row, lists of them, and both, each with a second level; and how many entities a row
  /// shows with them.
  private static let includes = [
    ("director.best", 3), ("cast(limit: 3).best", 7),
    ("director.best,cast(limit: 3, order: name).best", 9),
  ]
  private static let schema = """
    type Query { films: [Film!]! }
    type Film {
      id: ID! title: String! year: Int synopsis: String director: Person cast: [Person!]!
    }
    type Person { id: ID! name: String! biography: String best: Film }
    """
  private static let operations = """
    query Films {
      films {
        id title year synopsis director { id name biography best { id } } cast { id }
      }
    }
    """

  static func run() async throws {
    var library = try FilmLibrary(schema: schema, operations: operations)
    defer { library.end() }
    try await fill(&library)
    let reader = library.entities
    try await check(reader)
    for (include, entities) in includes {
      let times = try await Measuring([
        { for page in 0..<pages { try await read(reader, page, nil) } },
        { for page in 0..<pages { try await read(reader, page, include) } },
        { for page in 0..<pages { try await read(reader, page, nil, rows: rows * entities) } },
      ])
      ResultRow(
        name: "nested: \(pages) pages of \(rows) with \(include)", measured: times.median(1).shown,
        held: "the flat page: \(times.median(0).shown)", result: times.ratio(1, to: 0),
        goal: "≤ 2"
      ).show()
      ResultRow(
        name: "nested: the same", measured: times.median(1).shown,
        held: "a flat page of \(rows * entities): \(times.median(2).shown)",
        result: times.ratio(1, to: 2)
      ).show()
    }
  }

  @discardableResult
  private static func read(
    _ reader: EntityReader, _ page: Int, _ include: String?, rows: Int = rows
  ) async throws -> [UInt8] {
    var parameters: [CollectionRequest.Parameter] = [
      .init("filter", "year >= ?"), .init("arg", "\(1900 + page)"), .init("order", "year"),
      .init("limit", "\(rows)"),
    ]
    if let include { parameters.append(.init("include", include)) }
    let response = try await reader.collection(
      of: "Film", parameters: parameters, caller: .anonymous)
    guard response.body.count > 10_000 else { throw BenchmarkFault(text: "the page is empty") }
    return response.body
  }

  /// Throws unless the pages have what is measured: the director's id in the flat one, both levels in the
  /// others.
  private static func check(_ reader: EntityReader) async throws {
    for include in [nil] + includes.map({ Optional.some($0.0) }) {
      let page = try JSONValue(parsing: try await read(reader, 0, include))
      let films = page["items"]?.array ?? []
      let nestsOne = include?.contains("director.best") ?? false
      let nestsMany = include?.contains("cast(") ?? false
      let isRight = films.allSatisfy { film in
        let one = film["director"]
        let many = film["cast"]?.array ?? []
        return nestsOne == (one?["best"]?["title"] != nil) && (nestsOne || one?.string != nil)
          && (nestsMany ? 1...3 : 0...0).contains(many.count)
          && many.allSatisfy { $0["best"]?["title"] != nil }
      }
      guard films.count == rows, isRight else {
        throw BenchmarkFault(text: "the page with \(include ?? "no include") has other entities")
      }
    }
  }

  private static func fill(_ library: inout FilmLibrary) async throws {
    let text = JSONValue.string(String(repeating: "A long story. ", count: 20))
    func person(_ number: Int) -> JSONValue {
      .storedReference(to: EntityKey(type: "Person", key: "p\(number % people)"))
    }
    try await library.apply { call in
      NormalisedResponse(
        call: call,
        entities: (0..<people).map { number in
          (
            EntityKey(type: "Person", key: "p\(number)"),
            [
              "id": .string("p\(number)"), "name": .string("Person \(number)"), "biography": text,
              "best": .storedReference(to: EntityKey(type: "Film", key: "f\(number * 7)")),
            ]
          )
        })
    }
    for first in stride(from: 0, to: films, by: 5_000) {
      try await library.apply { call in
        NormalisedResponse(
          call: call,
          entities: (first..<first + 5_000).map { number in
            (
              EntityKey(type: "Film", key: "f\(number)"),
              [
                "id": .string("f\(number)"), "title": .string("Film \(number)"),
                "year": .number(JSONNumber(1900 + number * 31 % 120)), "synopsis": text,
                "director": person(number),
                "cast": .array((1...6).map { person(number * $0 + 1) }),
              ]
            )
          })
      }
    }
  }
}
