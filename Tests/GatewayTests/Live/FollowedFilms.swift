import Logging
import LosslessJSON
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import Gateway

/// Films, people and their relationships in a store, with everything that follows lists of them.
final class FollowedFilms: Sendable {
  private static let schema = """
    type Query { films: [Film!]! person(id: ID!): Person }
    type Film { id: ID! title: String! year: Int director: Person studio: Studio }
    type Studio { id: ID! name: String! }
    type Person { id: ID! name: String! films: [Film!]! }
    """

  private static let operations = """
    query Films { films { ...FilmCard year director { id name } studio { id name } } }
    query Person($id: ID!) { person(id: $id) { id name films { id } } }
    fragment FilmCard on Film { id title }
    """

  let store: Store
  let entities: EntityReader
  let lists: LiveLists
  let ledger: ListLedger
  let devices: DeviceRegistry
  let signal: CommitSignal
  let clock = TestClock()
  private let memory = ListMemory()
  private let folder: StoreFolder
  private let call = Mutex<Int64>(0)

  /// - Parameters:
  ///   - hasServiceCredentials, openTypes: see ``StoredDataGate``.
  ///   - listBytesMax: the memory of all lists.
  ///   - sleep: of the lists.
  init(
    hasServiceCredentials: Bool = false, openTypes: Set<String> = [],
    listBytesMax: Int = ListLedger.defaultBytesMax,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in await Task.yield() }
  ) throws {
    ledger = ListLedger(bytesMax: listBytesMax)
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "films.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings())
    let registry = try #require(loaded.registry, "\(loaded.findings)")
    folder = try StoreFolder(types: registry.catalogue.types)
    store = folder.store
    let keys = KeyRing(root: Array(0..<32))
    let cursors = CursorIssuer(
      codec: CursorCodec(key: keys.key(for: .cursor)), segment: 1, schemaVersion: 1,
      head: store.head)
    signal = CommitSignal { try await Task.sleep(for: $0) }
    devices = DeviceRegistry(
      store: store,
      settings: DeviceSettings(
        registration: .open, registrationsPerMinute: 30, expiry: .seconds(86_400)),
      clock: clock.clock, random: RandomBytes { UInt8.random(in: 0...UInt8.max) }, signal: signal,
      logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
    entities = EntityReader(
      store: store.reading, directory: EntityDirectory(registry: registry, local: .none),
      renderer: EntityRenderer(catalogue: registry.catalogue),
      tokens: PageTokenCodec(key: keys.key(for: .page)),
      deadline: QueryDeadline(limit: .seconds(20)) { .zero },
      gate: StoredDataGate(
        hasServiceCredentials: hasServiceCredentials, openTypes: openTypes), lists: memory,
      clock: clock.clock, uptime: { .zero })
    lists = LiveLists(
      entities: entities, memory: memory, ledger: ledger, cursors: cursors, devices: devices,
      signal: signal, sleep: sleep)
    store.observe { [cursors, signal, lists] report in
      cursors.publish(report.head)
      signal.note(report)
      lists.note(report)
    }
  }

  // MARK: Writes

  func write(_ entities: [(EntityKey, JSONValue)], in scope: Scope = .public) async throws {
    var response = response(in: scope)
    for (key, value) in entities {
      var fields: [NormalisedResponse.Field] = []
      for member in value.members ?? [] {
        let start = response.bytes.count
        response.bytes += member.value.bytes
        fields.append(.init(name: member.name, range: start..<response.bytes.count, merges: false))
      }
      response.entities.append(.init(key: key, fields: fields))
    }
    _ = try await store.apply(response)
  }

  func film(
    _ id: String, _ title: String, year: Int = 2000, in scope: Scope = .public
  ) async throws {
    try await write([Self.film(id, title, year: year)], in: scope)
  }

  static func film(_ id: String, _ title: String, year: Int = 2000) -> (EntityKey, JSONValue) {
    (
      EntityKey(type: "Film", key: id),
      ["id": .string(id), "title": .string(title), "year": .number(JSONNumber(year))]
    )
  }

  /// Writes a person with the films of a relationship.
  func person(_ id: String, films: [String]) async throws {
    let references = films.map { JSONValue.storedReference(to: EntityKey(type: "Film", key: $0)) }
    try await write([
      (
        EntityKey(type: "Person", key: id),
        ["id": .string(id), "name": "P", "films": .array(references)]
      )
    ])
  }

  func delete(_ keys: EntityKey...) async throws {
    var response = response(in: .public)
    response.deletions = keys
    _ = try await store.apply(response)
  }

  private func response(in scope: Scope) -> NormalisedResponse {
    let number = call.withLock { call in
      call += 1
      return CallNumber(call)
    }
    return NormalisedResponse(
      call: number, horizon: number, received: Timestamp(milliseconds: 0), scope: scope)
  }

  // MARK: Streams

  func question(_ subject: ListSubject, _ query: String = "") -> ListQuestion {
    ListQuestion(subject, parameters: Self.parameters(query))
  }

  private static func parameters(_ query: String) -> [CollectionRequest.Parameter] {
    query.split(separator: "&").map { part in
      let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
      return .init(sides[0], sides.count > 1 ? sides[1] : "")
    }
  }

  func stream(
    _ subject: ListSubject = .type("Film"), _ query: String = "", by caller: Caller = .anonymous,
    knownTag: String? = nil, network: String = "192.0.2.1"
  ) async throws -> ListStream {
    lists.open(
      try await lists.start(
        question(subject, query), caller: caller, owner: caller.owner(in: ClientNetwork(network)),
        knownTag: knownTag))
  }

  /// The next event of a stream that is not a heartbeat; nil at its end.
  static func event(of stream: any EventSource) async throws -> EventFrame.Event? {
    while let frames = try await stream.next() {
      if let event = EventFrame.events(in: frames).first { return event }
    }
    return nil
  }

  /// Reads events until the client's copy is the present list, as a plain read has it.
  func follow(
    _ stream: ListStream, _ copy: inout ListCopy, to subject: ListSubject, _ query: String,
    _ note: String
  ) async throws {
    let present = try await present(subject, query)
    while copy.tag != "\"\(present.tag)\"" {
      let event = try #require(try await Self.event(of: stream), "\(note)")
      let data = try JSONValue(parsing: event.data)
      #expect(event.event == (data["kind"] == "full" ? "list" : "diff"), "\(note)")
      #expect(event.id == data["etag"]?.string, "\(note)")
      try copy.apply(data)
    }
    let items = try JSONValue(parsing: present.body)["items"]?.array
    #expect(copy.items == items, "\(note)")
  }

  private func present(
    _ subject: ListSubject, _ query: String
  ) async throws -> EntityReader.Response {
    let parameters = Self.parameters(query)
    switch subject {
    case .type(let type):
      return try await entities.collection(of: type, parameters: parameters, caller: .anonymous)
    case .relationship(let field, let key):
      return try await entities.relationship(
        field, of: key, parameters: parameters, caller: .anonymous)
    case .entity(let key):
      return try await entities.entity(key, parameters: parameters, caller: .anonymous)
    }
  }
}
