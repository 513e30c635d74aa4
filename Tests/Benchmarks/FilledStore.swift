import FoundationEssentials
import Gateway
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

/// A store with many films, and the readers that the endpoints use.
struct FilmLibrary {
  static let schema = """
    type Query { films: [Film!]! }
    type Film {
      id: ID! title: String! year: Int rating: Float country: String synopsis: String
      released: Boolean
    }
    """
  static let operations = """
    query Films { films { id title year rating country synopsis released } }
    """
  private static let bulkMax = 10_000

  let folder: String
  let store: Store
  let entities: EntityReader
  let renderer: EntityRenderer
  let words = TitleWords()

  var databasePath: String { "\(folder)/larder.sqlite" }

  static func filled(films: Int) async throws -> FilmLibrary {
    let library = try FilmLibrary()
    for first in stride(from: 0, to: films, by: bulkMax) {
      _ = try await library.store.apply(
        FilmPages.answer(
          count: min(bulkMax, films - first), call: Int64(first / bulkMax + 1), operation: "Bulk",
          from: first, seed: UInt64(first + 1), words: library.words))
    }
    return library
  }

  private init() throws {
    folder =
      FileManager.default.temporaryDirectory.appending(
        path: "larder-bench-library-\(UInt32.random(in: 0...(.max)))"
      ).path
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "films.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings(indexes: ["Film": ["year"]], search: ["Film": ["title"]]))
    guard let registry = loaded.registry else {
      throw BenchmarkFault(text: "the operations are faulty: \(loaded.findings)")
    }
    store = try Store.open(
      StoreConfiguration(folder: folder, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: registry.catalogue.types)
    renderer = EntityRenderer(catalogue: registry.catalogue)
    let clock = ContinuousClock()
    let start = clock.now
    entities = EntityReader(
      store: store.reading, directory: EntityDirectory(registry: registry, local: .none),
      renderer: renderer,
      tokens: PageTokenCodec(
        key: KeyRing(root: [UInt8](repeating: 1, count: 32)).key(for: .page)),
      deadline: QueryDeadline(limit: .seconds(2)) { clock.now - start },
      gate: StoredDataGate(hasServiceCredentials: false),
      clock: WallClock { Timestamp(milliseconds: 0) }, uptime: { clock.now - start })
  }

  func end() {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }
}

struct BenchmarkFault: Error {
  let text: String
}
