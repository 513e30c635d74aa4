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
  private static let local = """
    extend type Film { favourite: Boolean @local @default(value: false) note: String @local }
    """

  static func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-bench-localfields-\(UInt32.random(in: 0...(.max)))"
    ).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "films.graphql", text: operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)],
      settings: RegistrySettings(indexes: ["Film": ["year"]]))
    guard let upstream = loaded.registry else {
      throw BenchmarkFault(text: "the operations are faulty: \(loaded.findings)")
    }
    var file = LocalSchemaReader(catalogue: upstream.catalogue)
    let (read, findings) = file.read(SourceFile(path: "local.graphql", text: local))
    guard let added = read else { throw BenchmarkFault(text: "local.graphql: \(findings)") }
    let registry = upstream.adding(added)
    var configuration = StoreConfiguration(
      folder: folder, segment: 1, opened: Timestamp(milliseconds: 0))
    configuration.local = added
    let store = try Store.open(configuration, types: registry.catalogue.types)
    defer { store.close() }
    try await fill(store, added)
    let clock = ContinuousClock()
    let start = clock.now
    let reader = EntityReader(
      store: store.reading, directory: EntityDirectory(registry: registry, local: added),
      renderer: EntityRenderer(catalogue: registry.catalogue),
      tokens: PageTokenCodec(
        key: KeyRing(root: [UInt8](repeating: 1, count: 32)).key(for: .page)),
      deadline: QueryDeadline(limit: .seconds(2)) { clock.now - start },
      gate: StoredDataGate(hasServiceCredentials: false),
      clock: WallClock { Timestamp(milliseconds: 0) }, uptime: { clock.now - start })
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

  private static func fill(_ store: Store, _ schema: LocalSchema) async throws {
    let text = JSONValue.string(String(repeating: "A long story. ", count: 20))
    for (index, first) in stride(from: 0, to: films, by: 5_000).enumerated() {
      let call = CallNumber(Int64(index + 1))
      var response = NormalisedResponse(
        call: call, horizon: call, received: Timestamp(milliseconds: 0), scope: .public)
      for number in first..<first + 5_000 {
        let film: JSONValue = [
          "id": .string("f\(number)"), "title": .string("Film \(number)"),
          "year": .number(JSONNumber(1900 + number * 31 % 120)), "synopsis": text,
        ]
        var fields: [NormalisedResponse.Field] = []
        for member in film.members ?? [] {
          let start = response.bytes.count
          response.bytes += member.value.bytes
          fields.append(
            .init(name: member.name, range: start..<response.bytes.count, merges: false))
        }
        response.entities.append(
          .init(key: EntityKey(type: "Film", key: "f\(number)"), fields: fields))
      }
      _ = try await store.apply(response)
    }
    guard let type = schema.allFields(of: "Film") else { return }
    let owner = LocalOwner(device: .ownData(ofDevice: "d_1"), user: nil)
    let moment = Timestamp(milliseconds: 0)
    try await store.register(
      Device(id: "d_1", platform: "ios", registered: moment, lastUsed: moment), tokenDigest: "d_1")
    for first in stride(from: 0, to: films, by: 1_000) {
      let writes = (first..<first + 1_000).map { number in
        var body = LocalBody()
        body.named = ["favourite", "note"]
        body.fields = ["favourite": .bool(number % 3 == 0), "note": .string("Note \(number)")]
        return LocalOperation(.update, type, .key("f\(number)"), body: body)
      }
      let result = try await store.writeLocal(
        writes, schema: schema, owner: owner, now: Timestamp(milliseconds: 0))
      guard case .success = result else { throw BenchmarkFault(text: "the fields are refused") }
    }
  }
}
