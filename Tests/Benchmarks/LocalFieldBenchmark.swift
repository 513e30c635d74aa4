import Filtering
import FoundationEssentials
import Gateway
import LosslessJSON
import Model
import Storage
import TestSupport
import Upstream

/// Pages of 50 among 100,000 films for a device that has local fields of all of them, and for one that has
/// none.
enum LocalFieldBenchmark {
  private static let films = 100_000
  private static let pages = 50
  private static let schema = """
    type Query { films: [Film!]! }
    type Film { id: ID! title: String! year: Int synopsis: String }
    """
  private static let operations = "query Films { films { id title year synopsis } }"
  private static let localTypes = """
    extend type Film { favourite: Boolean @local @default(value: false) note: String @local }
    """

  static func run() async throws {
    var library = try FilmLibrary(
      schema: schema, operations: operations, localTypes: localTypes)
    defer { library.end() }
    try await fill(&library)
    let reader = library.entities
    let (with, without) = (caller("d_1"), caller("d_2"))
    let times = try await Measuring([
      { for page in 0..<pages { try await Self.read(reader, page, without) } },
      { for page in 0..<pages { try await Self.read(reader, page, with) } },
      { for page in 0..<pages { try await Self.read(reader, page, .anonymous) } },
    ])
    ResultRow(
      name: "localfields: \(pages) pages of 50 for a device with fields of \(films) films",
      measured: times.median(1).shown, held: "a device without: \(times.median(0).shown)",
      result: times.ratio(1, to: 0), goal: "≤ 1.1"
    ).show()
    ResultRow(
      name: "localfields: the same pages for a device without", measured: times.median(0).shown,
      held: "no device: \(times.median(2).shown)", result: times.ratio(0, to: 2), goal: "≤ 1.1"
    ).show()
  }

  private static func caller(_ device: String) -> Caller {
    Caller(device: Caller.Device(id: device, tokenDigest: device))
  }

  private static func read(_ reader: EntityReader, _ page: Int, _ caller: Caller) async throws {
    let response = try await reader.collection(
      of: "Film",
      parameters: [
        .init("filter", "year >= ?"), .init("arg", "\(1900 + page)"), .init("order", "year"),
      ], caller: caller)
    guard response.body.count > 10_000 else { throw BenchmarkFault(text: "the page is empty") }
  }

  private static func fill(_ library: inout FilmLibrary) async throws {
    let text = JSONValue.string(String(repeating: "A long story. ", count: 20))
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
              ]
            )
          })
      }
    }
    guard let type = library.local.allFields(of: "Film") else { return }
    let owner = LocalOwner(device: .ownData(ofDevice: "d_1"), user: nil)
    let moment = Timestamp(milliseconds: 0)
    try await library.store.register(
      Device(id: "d_1", platform: "ios", registered: moment, lastUsed: moment), tokenDigest: "d_1")
    for first in stride(from: 0, to: films, by: 1_000) {
      let writes = (first..<first + 1_000).map { number in
        var body = LocalBody()
        body.named = ["favourite", "note"]
        body.fields = ["favourite": .bool(number % 3 == 0), "note": .string("Note \(number)")]
        return LocalOperation(.update, type, .key("f\(number)"), body: body)
      }
      let result = try await library.store.writeLocal(
        writes, schema: library.local, owner: owner, now: Timestamp(milliseconds: 0))
      guard case .success = result else { throw BenchmarkFault(text: "the fields are refused") }
    }
  }
}
