import LosslessJSON
import Model
import Storage
import Synchronization
import Testing
import Upstream

@testable import Gateway

/// Films and people in a store, read with their relationships.
final class NestedLibrary: Sendable {
  private static let schema = """
    type Query { films: [Film!]! }
    type Film { id: ID! title: String! year: Int director: Person cast: [Person!]! }
    type Person { id: ID! name: String! born: Int films: [Film!]! best: Film agent: Agent }
    type Agent { id: ID! name: String! }
    """

  private static let operations = """
    query Films {
      films {
        id title year cast { id }
        director { id name born best { id } agent { id name } films { id } }
      }
    }
    fragment FilmTitle on Film { title }
    fragment FilmMaker on Film { naam: title maker: director { fullName: name } }
    fragment FilmDeep on Film {
      cast { id best { title director { id best { id } } } }
    }
    """

  static let ada = Caller(subject: "ada", user: "ada")

  let store: Store
  let reader: EntityReader
  private let folder: StoreFolder
  private let call = Mutex<Int64>(0)

  init(gate: StoredDataGate = StoredDataGate(hasServiceCredentials: false)) throws {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "films.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings())
    let registry = try #require(loaded.registry, "\(loaded.findings)")
    folder = try StoreFolder(types: registry.catalogue.types)
    store = folder.store
    reader = EntityReader(
      store: store.reading,
      directory: EntityDirectory(
        registry: registry, local: .none,
        links: [EntityLink(owner: "Person", name: "directed", type: "Film", field: "director")]),
      renderer: EntityRenderer(catalogue: registry.catalogue, views: registry.views.values),
      tokens: PageTokenCodec(
        key: KeyRing(root: [UInt8](repeating: 1, count: 32)).key(for: .page)),
      deadline: QueryDeadline(limit: .seconds(20)) { .zero }, gate: gate,
      clock: WallClock { Timestamp(milliseconds: 5000) }, uptime: { .zero })
  }

  // MARK: Writes

  static func film(_ id: String) -> EntityKey { EntityKey(type: "Film", key: id) }
  static func person(_ id: String) -> EntityKey { EntityKey(type: "Person", key: id) }

  static func people(_ ids: [String]) -> JSONValue {
    .array(ids.map { .storedReference(to: person($0)) })
  }

  static func films(_ ids: [String]) -> JSONValue {
    .array(ids.map { .storedReference(to: film($0)) })
  }

  func write(_ key: EntityKey, _ value: JSONValue, in scope: Scope = .public) async throws {
    var response = response(in: scope)
    var fields: [NormalisedResponse.Field] = []
    for member in value.members ?? [] {
      let start = response.bytes.count
      response.bytes += member.value.bytes
      fields.append(.init(name: member.name, range: start..<response.bytes.count, merges: false))
    }
    response.entities.append(.init(key: key, fields: fields))
    _ = try await store.apply(response)
  }

  func delete(_ key: EntityKey, in scope: Scope = .public) async throws {
    var response = response(in: scope)
    response.deletions = [key]
    _ = try await store.apply(response)
  }

  private func response(in scope: Scope) -> NormalisedResponse {
    let number = call.withLock { call in
      call += 1
      return CallNumber(call)
    }
    return NormalisedResponse(
      call: number, horizon: number, received: Timestamp(milliseconds: 2000), scope: scope)
  }

  // MARK: Reads

  func films(_ parameters: String..., by caller: Caller = .anonymous) async throws -> [JSONValue] {
    let response = try await reader.collection(
      of: "Film", parameters: Self.parameters(parameters), caller: caller)
    return try JSONValue(parsing: response.body)["items"]?.array ?? []
  }

  func entity(
    _ key: EntityKey, _ parameters: String..., by caller: Caller = .anonymous
  ) async throws -> (body: JSONValue, tag: String) {
    let response = try await reader.entity(
      key, parameters: Self.parameters(parameters), caller: caller)
    return (try JSONValue(parsing: response.body), response.tag)
  }

  func related(
    _ field: String, of key: EntityKey, _ parameters: String..., by caller: Caller = .anonymous
  ) async throws -> JSONValue {
    let response = try await reader.relationship(
      field, of: key, parameters: Self.parameters(parameters), caller: caller)
    return try JSONValue(parsing: response.body)
  }

  /// The faults of a request's parameters.
  func faults(of key: EntityKey, _ parameters: String...) async throws -> [String] {
    do throws(Failure) {
      _ = try await reader.entity(
        key, parameters: Self.parameters(parameters), caller: .anonymous)
      return []
    } catch {
      #expect(error.code == .malformedRequest)
      return error.details.map(\.detail)
    }
  }

  /// Parameters as `name=value`.
  private static func parameters(_ texts: [String]) -> [CollectionRequest.Parameter] {
    texts.map { text in
      let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
      return .init(sides[0], sides.count > 1 ? sides[1] : "")
    }
  }
}

extension JSONValue {
  /// An object without some of its members.
  func without(_ names: String...) -> JSONValue {
    .object((members ?? []).filter { !names.contains($0.name) })
  }

  /// The values of a member in a list of objects.
  func list(_ name: String) -> [String] { array?.map { $0[name]?.string ?? "" } ?? [] }
}
