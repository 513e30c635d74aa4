import Gateway
import Logging
import LosslessJSON
import Model
import Storage
import TestSupport

/// A stream of a list among 10,000 films: from a commit of one film to the event that the client gets,
/// held against the commit alone.
enum ListStreamBenchmark {
  private static let films = 10_000

  static func run() async throws {
    let library = try await FilmLibrary.filled(films: films)
    defer { library.end() }
    let world = World(library)
    for query in ["order=title", "order=year", "order=title&total=true"] {
      let parameters = (query + "&limit=1000").split(separator: "&").map { part in
        let sides = part.split(separator: "=").map(String.init)
        return CollectionRequest.Parameter(sides[0], sides[1])
      }
      let question = ListQuestion(.type("Film"), parameters: parameters)
      let stream = world.lists.open(
        try await world.lists.start(
          question, caller: .anonymous,
          owner: Caller.anonymous.owner(in: ClientNetwork("192.0.2.1")),
          knownTag: nil))
      let size = try await stream.next()?.count ?? 0
      let page = try await library.entities.collection(
        of: "Film", parameters: parameters, caller: .anonymous)
      let film = try JSONValue(parsing: page.body)["items"]?[500]?["id"]?.string ?? ""
      var bytes = 0
      let times = try await Measuring(
        rounds: 101,
        [
          { try await world.commit(film, in: .user("other")) },
          {
            try await world.commit(film, in: .public)
            bytes = try await stream.next()?.count ?? 0
          },
        ])
      guard bytes > 0, bytes < size / 4 else {
        throw BenchmarkFault(text: "\(query): an event of \(bytes) bytes is no diff of one film")
      }
      let added = times.median(1).microseconds - times.median(0).microseconds
      ResultRow(
        name: "list stream: 1 change in \(films) rows, 1,000 shown, \(query)",
        measured: times.median(1).shown, held: "the commit alone: \(times.median(0).shown)",
        result: "\((added / 10).rounded() / 100) ms", goal: "≤ 2 ms"
      ).show()
      withExtendedLifetime(stream) {}
    }
  }

  private final class World {
    let lists: LiveLists
    private let store: Store
    private var call: Int64 = 1_000

    init(_ library: FilmLibrary) {
      store = library.store
      let clock = WallClock { Timestamp(milliseconds: 0) }
      let signal = CommitSignal { try await Task.sleep(for: $0) }
      let cursors = CursorIssuer(
        codec: CursorCodec(key: KeyRing(root: [UInt8](repeating: 1, count: 32)).key(for: .cursor)),
        segment: 1, schemaVersion: 1, head: store.head)
      lists = LiveLists(
        entities: library.entities, memory: ListMemory(), cursors: cursors,
        devices: DeviceRegistry(
          store: store,
          settings: DeviceSettings(
            registration: .open, registrationsPerMinute: 1, expiry: .seconds(86_400)),
          clock: clock, random: RandomBytes { UInt8.random(in: 0...UInt8.max) }, signal: signal,
          logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }),
        signal: signal, sleep: { try await Task.sleep(for: $0) })
      store.observe { [lists] report in
        cursors.publish(report.head)
        lists.note(report)
      }
    }

    /// Changes one field of a film, in the scope of all callers or in that of a user whom no stream shows.
    func commit(_ film: String, in scope: Scope) async throws {
      call += 1
      var response = NormalisedResponse(
        call: CallNumber(call), horizon: CallNumber(call), received: Timestamp(milliseconds: 0),
        scope: scope)
      let fields: [(String, JSONValue)] = [
        ("id", .string(film)), ("synopsis", .string("Synopsis \(call)")),
      ]
      var written: [NormalisedResponse.Field] = []
      for (name, value) in fields {
        let start = response.bytes.count
        response.bytes += value.bytes
        written.append(.init(name: name, range: start..<response.bytes.count, merges: false))
      }
      response.entities = [.init(key: EntityKey(type: "Film", key: film), fields: written)]
      _ = try await store.apply(response)
    }
  }
}
