import FoundationEssentials
import Gateway
import LosslessJSON
import Model
import Storage
import TestSupport
import Upstream

/// A store in a folder of its own, filled for a benchmark.
struct FilledStore {
  /// The number of entities per response while it is filled.
  private static let bulkMax = 10_000

  let store: Store
  private let folder: String
  /// The number of things it was filled with.
  let count: Int
  /// The number of the last call whose response was stored.
  private(set) var call: Int64 = 0

  /// - Parameter count: the number of things to fill it with.
  init(count: Int, types: [EntityType]) throws {
    self.count = count
    folder =
      FileManager.default.temporaryDirectory.appending(
        path: "larder-bench-\(UInt64.random(in: 0...(.max)))"
      ).path
    store = try Store.open(
      StoreConfiguration(folder: folder, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: types)
  }

  /// A store with this many films.
  static func films(_ count: Int) async throws -> FilledStore {
    var filled = try FilledStore(count: count, types: [FilmPages.type])
    for first in stride(from: 0, to: count, by: bulkMax) {
      try await filled.apply { call in
        FilmPages.answer(
          count: min(bulkMax, count - first), call: call, operation: "Bulk", from: first)
      }
    }
    return filled
  }

  mutating func apply(_ answer: (_ call: Int64) -> NormalisedResponse) async throws {
    call += 1
    _ = try await store.apply(answer(call))
  }

  var databasePath: String { "\(folder)/larder.sqlite" }

  func end() {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }
}

/// A store with the types of operations, most of them films, and the readers that the endpoints use.
struct FilmLibrary {
  private static let schema = """
    type Query { films: [Film!]! }
    type Film {
      id: ID! title: String! year: Int rating: Float country: String synopsis: String
      released: Boolean
    }
    """
  private static let operations = """
    query Films { films { id title year rating country synopsis released } }
    """
  private static let bulkMax = 10_000

  let folder: String
  let store: Store
  let entities: EntityReader
  let renderer: EntityRenderer
  /// What the device's own types and fields are.
  let local: LocalSchema
  let words = TitleWords()
  /// The number of the last call whose response was stored.
  private(set) var call: Int64 = 0

  var databasePath: String { "\(folder)/larder.sqlite" }

  /// A library with this many films.
  static func filled(films: Int) async throws -> FilmLibrary {
    var library = try FilmLibrary(
      schema: schema, operations: operations,
      settings: RegistrySettings(indexes: ["Film": ["year"]], search: ["Film": ["title"]]))
    for first in stride(from: 0, to: films, by: bulkMax) {
      let words = library.words
      try await library.apply { call in
        FilmPages.answer(
          count: min(bulkMax, films - first), call: call, operation: "Bulk", from: first,
          seed: UInt64(first + 1), words: words)
      }
    }
    return library
  }

  /// An empty library.
  ///
  /// - Parameter localTypes: the text of `local.graphql`.
  init(
    schema: String, operations: String, localTypes: String? = nil,
    settings: RegistrySettings = RegistrySettings(indexes: ["Film": ["year"]])
  ) throws {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "films.graphql", text: operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)], settings: settings)
    guard var registry = loaded.registry else {
      throw BenchmarkFault(text: "the operations are faulty: \(loaded.findings)")
    }
    var local = LocalSchema.none
    if let localTypes {
      var file = LocalSchemaReader(catalogue: registry.catalogue)
      let (read, findings) = file.read(SourceFile(path: "local.graphql", text: localTypes))
      guard let read else { throw BenchmarkFault(text: "local.graphql: \(findings)") }
      local = read
      registry = registry.adding(read)
    }
    folder =
      FileManager.default.temporaryDirectory.appending(
        path: "larder-bench-library-\(UInt64.random(in: 0...(.max)))"
      ).path
    var configuration = StoreConfiguration(
      folder: folder, segment: 1, opened: Timestamp(milliseconds: 0))
    configuration.local = local
    self.local = local
    store = try Store.open(configuration, types: registry.catalogue.types)
    renderer = EntityRenderer(catalogue: registry.catalogue)
    let clock = ContinuousClock()
    let start = clock.now
    entities = EntityReader(
      store: store.reading, directory: EntityDirectory(registry: registry, local: local),
      renderer: renderer,
      tokens: PageTokenCodec(
        key: KeyRing(root: [UInt8](repeating: 1, count: 32)).key(for: .page)),
      deadline: QueryDeadline(limit: .seconds(2)) { clock.now - start },
      gate: StoredDataGate(hasServiceCredentials: false),
      clock: WallClock { Timestamp(milliseconds: 0) }, uptime: { clock.now - start })
  }

  mutating func apply(_ answer: (_ call: Int64) -> NormalisedResponse) async throws {
    call += 1
    _ = try await store.apply(answer(call))
  }

  func end() {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }
}

extension NormalisedResponse {
  /// A public response of whole entities, received at the start of time.
  ///
  /// - Parameter entities: the stored fields of each, as an object.
  init(call: Int64, entities: [(key: EntityKey, value: JSONValue)]) {
    self.init(
      call: CallNumber(call), horizon: CallNumber(call), received: Timestamp(milliseconds: 0),
      scope: .public)
    for (key, value) in entities {
      var fields: [Field] = []
      for member in value.members ?? [] {
        let start = bytes.count
        bytes += member.value.bytes
        fields.append(Field(name: member.name, range: start..<bytes.count, merges: false))
      }
      self.entities.append(Entity(key: key, fields: fields))
    }
  }
}

struct BenchmarkFault: Error {
  let text: String
}
