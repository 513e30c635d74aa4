import HTTPClient
import LosslessJSON
import Model
import Storage
import SyncScheduler
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Deployments whose operations differ from those that mutations were queued with.
struct OperationChangeTests {
  private static let query = """
    query GetFilm($id: ID!) { film(id: $id) { id stars note } }

    """
  private static let mutations = [
    "Rate": """
    mutation Rate($id: ID!, $stars: Int!) @sync(object: "Film:$id", repeatable: true) {
      rateFilm(id: $id, stars: $stars) { id stars }
    }

    """,
    "Note": """
    mutation Note($id: ID!, $note: String!) @sync(object: "Film:$id", repeatable: true) {
      noteFilm(id: $id, note: $note) { id note }
    }

    """,
    "Add": """
    mutation Add($note: String!) @sync(repeatable: true) {
      addFilm(note: $note) { id note }
    }

    """,
  ]
  /// Mutations with one variable more than clients have sent.
  private static let changed = [
    "Rate": """
    mutation Rate($id: ID!, $stars: Int!, $more: Int!) @sync(object: "Film:$id") {
      rateFilm(id: $id, stars: $stars) { id }  again: rateFilm(id: $id, stars: $more) { id }
    }

    """,
    "Note": """
    mutation Note($id: ID!, $note: String!, $language: String!) @sync(object: "Film:$id") {
      noteFilm(id: $id, note: $note) { id }  again: noteFilm(id: $id, note: $language) { id }
    }

    """,
    "Add": """
    mutation Add($note: String!, $language: String!) @sync(repeatable: true) {
      addFilm(note: $note) { id }  again: addFilm(note: $language) { id }
    }

    """,
  ]
  private static let all = query + mutations.values.sorted().joined()

  private static func without(_ name: String) -> String {
    query + mutations.filter { $0.key != name }.values.sorted().joined()
  }

  private static func request(
    _ operation: String, _ variables: JSONValue, _ mode: MutationMode = .lazy,
    optimistic: [JSONValue] = [], key: String
  ) -> (request: MutationRequest, key: String) {
    let request = MutationRequest(
      operation: operation, mode: mode, variables: variables, optimistic: optimistic,
      canonicalBytes: Array("\(operation) \(variables.text)".utf8))
    return (request, key)
  }

  private static func note(
    _ film: String, _ text: String, _ mode: MutationMode = .lazy, key: String
  ) -> (request: MutationRequest, key: String) {
    request("Note", ["id": .string(film), "note": .string(text)], mode, key: key)
  }

  private static func rate(
    _ film: String, _ stars: Int, _ mode: MutationMode = .lazy, key: String
  ) -> (request: MutationRequest, key: String) {
    request("Rate", ["id": .string(film), "stars": .number(JSONNumber(stars))], mode, key: key)
  }

  private static func add(
    _ id: TemporaryID, key: String
  ) -> (request: MutationRequest, key: String) {
    request(
      "Add", ["note": "new"],
      optimistic: [["op": "create", "type": "Film", "id": .string(id.value), "fields": [:]]],
      key: key)
  }

  /// Returns the scripted upstream's response to any of the mutations.
  private static func answer(_ call: FilmUpstream.Call) -> FilmUpstream.Answer {
    let film = call.film.isEmpty ? "made-\(call.key)" : call.film
    let object = #"{"__typename":"Film","id":"\#(film)","stars":4,"note":"n"}"#
    return FilmUpstream.json(
      200, #"{"data":{"rateFilm":\#(object),"noteFilm":\#(object),"addFilm":\#(object)}}"#)
  }

  private static func id(_ number: Int) throws -> TemporaryID {
    let digits = String(number)
    let text = "~01ARZ3NDEKTSV4RRFFQ69G5FAV".dropLast(digits.count) + digits
    return try #require(TemporaryID(String(text)))
  }

  private static func enqueue(
    _ requests: [(request: MutationRequest, key: String)], _ world: WorkerWorld, _ caller: Caller
  ) async throws -> [MutationID] {
    try await world.sync.enqueue(requests, by: caller).map { answer in
      MutationID(try #require(try JSONValue(parsing: answer.body)["id"]?.string))
    }
  }

  /// Returns a world whose upstream is unavailable while the switch says so.
  private static func world(_ upstream: UpstreamSwitch) async throws -> WorkerWorld {
    try await WorkerWorld(operations: all) { call in
      upstream.isAway ? .failure(.connectTimedOut) : answer(call)
    }
  }

  /// Advances the time from wake to wake until the condition holds.
  private static func pass(
    _ world: WorkerWorld, sourceLocation: SourceLocation = #_sourceLocation,
    until condition: () async throws -> Bool
  ) async throws {
    try await world.until(sourceLocation: sourceLocation) {
      if try await condition() { return true }
      if try world.sync.worker.runningCount == 0 { wake(world) }
      return false
    }
  }

  /// Advances the time to the next wake, unless that is the expiry of a mutation, weeks from now.
  private static func wake(_ world: WorkerWorld) {
    guard let wake = world.time.nextWake, wake - world.time.reading < .seconds(3_600) else {
      return
    }
    world.time.advance(to: wake)
  }

  @Test("A removed operation parks its mutations and what depends on them, and nothing else")
  func parksWhatLostItsOperation() async throws {
    let upstream = UpstreamSwitch(isAway: true)
    let world = try await Self.world(upstream)
    let caller = try await world.device()
    let made = try Self.id(1)
    let ids = try await Self.enqueue(
      [
        Self.add(made, key: "a"), Self.note(made.value, "x", key: "b"),
        Self.note("f1", "y", key: "c"), Self.rate("f1", 3, key: "d"),
        Self.rate("f2", 3, key: "e"),
      ], world, caller)
    try await world.rest()
    let calls = world.upstream.callCount
    try await world.restart(operations: Self.without("Add"))
    // `Add` was removed: it is parked although upstream is unavailable, and the note on its film waits.
    var add = try await world.record(ids[0], of: caller)
    #expect(add.state == .parked && add.reason == .operationChanged)
    #expect(add.attempts == 0 && !add.everSent)
    upstream.isAway = false
    try await Self.pass(world) { try await world.record(ids[4], of: caller).state == .applied }
    try await Self.pass(world) { try await world.record(ids[3], of: caller).state == .applied }
    #expect(try await world.record(ids[1], of: caller).state == .queued)
    #expect(world.upstream.calls.dropFirst(calls).allSatisfy { ["f1", "f2"].contains($0.film) })
    // The operation exists again: the waiting mutations are sent automatically.
    try await world.restart(operations: Self.all)
    try await Self.pass(world) { try await world.record(ids[1], of: caller).state == .applied }
    add = try await world.record(ids[0], of: caller)
    #expect(add.state == .applied && add.reason == nil)
  }

  @Test("The problem of a parked mutation names the variable that does not fit")
  func namesTheVariable() async throws {
    let upstream = UpstreamSwitch(isAway: true)
    let world = try await Self.world(upstream)
    let caller = try await world.device()
    let id = try await Self.enqueue([Self.note("f1", "x", key: "a")], world, caller)[0]
    try await world.rest()
    try await world.restart(
      operations: Self.without("Note") + (Self.changed["Note"] ?? ""))
    let shown = try JSONValue(
      parsing: try await world.sync.mutation(id.value, wait: .zero, by: caller))
    #expect(shown["state"] == "parked" && shown["reason"] == "operation_changed")
    #expect(shown["problem"]?["code"] == "operation_changed")
    #expect(shown["problem"]?["detail"]?.string?.contains("/language is required") == true)
    // The problem is removed with its cause.
    try await world.restart(operations: Self.all)
    try await world.rest()
    let back = try JSONValue(
      parsing: try await world.sync.mutation(id.value, wait: .zero, by: caller))
    #expect(back["state"] == "queued" && back["problem"] == nil && back["reason"] == nil)
  }

  @Test("A start logs once which operations queued mutations miss, with their counts")
  func warnsOnce() async throws {
    let world = try await Self.world(UpstreamSwitch(isAway: true))
    for _ in 0..<3 {
      let caller = try await world.device()
      _ = try await Self.enqueue(
        [Self.note("f1", "x", key: "a"), Self.note("f2", "x", key: "b")], world, caller)
    }
    for _ in 0..<2 {
      let before = world.log.lines.count
      try await world.restart(operations: Self.without("Note"))
      let said = world.log.lines.map(\.text).dropFirst(before).filter { $0.contains("parked") }
      #expect(said.count == 1)
      #expect(said.first?.contains("Note=6") == true, "\(said)")
    }
    let page = try await world.sync.queues(after: "")
    #expect(page.count == 3)
    #expect(page.allSatisfy { $0.json["parkedReasons"]?["operation_changed"] == 2 })
  }

  @Test("A mutation parked for its operation is retried and discarded by command")
  func obeysCommands() async throws {
    let upstream = UpstreamSwitch(isAway: true)
    let world = try await Self.world(upstream)
    let caller = try await world.device()
    let ids = try await Self.enqueue(
      [Self.note("f1", "x", key: "a"), Self.note("f2", "x", key: "b")], world, caller)
    try await world.restart(operations: Self.without("Note"))
    let calls = world.upstream.callCount
    upstream.isAway = false
    // It is parked again: the operation is still missing.
    _ = try await world.sync.perform(.retry(ids[0]), by: caller)
    try await world.until { try await world.record(ids[0], of: caller).state == .parked }
    #expect(try await world.record(ids[0], of: caller).reason == .operationChanged)
    _ = try await world.sync.perform(.discard(ids[1]), by: caller)
    #expect(try await world.record(ids[1], of: caller).state == .discarded)
    #expect(world.upstream.callCount == calls)
    try await world.restart(operations: Self.all)
    try await world.until { try await world.record(ids[0], of: caller).state == .applied }
    #expect(try await world.record(ids[1], of: caller).state == .discarded)
  }

  @Test("A mutation parked at sign-out is not sent when its operation returns")
  func signedOutStaysParked() async throws {
    let upstream = UpstreamSwitch(isAway: true)
    let world = try await Self.world(upstream)
    let caller = try await world.device()
    let id = try await Self.enqueue([Self.note("f1", "x", key: "a")], world, caller)[0]
    try await world.restart(operations: Self.without("Note"))
    _ = try await world.sync.perform(.signOut(.park), by: caller)
    upstream.isAway = false
    try await world.restart(operations: Self.all)
    try await world.until { try world.sync.worker.runningCount == 0 }
    let mutation = try await world.record(id, of: caller)
    #expect(mutation.state == .parked && mutation.reason == .signedOut)
  }

  // MARK: Any sequence

  /// Returns operations, each unchanged, removed, with another variable, or of another kind.
  private static func deployment(_ random: inout SeededGenerator) -> (
    text: String, fits: Set<String>
  ) {
    var text = query
    var fits: Set<String> = []
    for (name, mutation) in mutations.sorted(by: { $0.key < $1.key }) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: continue
      case 1: text += changed[name] ?? ""
      case 2: text += "query \(name)($id: ID!) { film(id: $id) { id } }\n"
      default:
        text += mutation
        fits.insert(name)
      }
    }
    return (text, fits)
  }

  @Test("No sequence of deployments loses a mutation that was acknowledged", arguments: 1...40)
  func losesNothing(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let upstream = UpstreamSwitch(isAway: true)
    let world = try await Self.world(upstream)
    let caller = try await world.device()
    var ids: [MutationID] = []
    var steady: [MutationID] = []
    var fits: Set<String> = ["Rate", "Note", "Add"]
    var made: [TemporaryID] = []
    for step in 0..<12 {
      for number in 0..<Int.random(in: 0..<4, using: &random) {
        let key = "\(step)-\(number)"
        let mode: MutationMode = Bool.random(using: &random) ? .lazy : .steady
        let films = ["f1", "f2", "f3"] + made.map(\.value)
        let film = films.randomElement(using: &random) ?? "f1"
        let asked: (request: MutationRequest, key: String)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: asked = Self.rate(film, step, mode, key: key)
        case 1: asked = Self.note(film, "\(step)", mode, key: key)
        default:
          let id = try Self.id(step * 10 + number)
          asked = Self.add(id, key: key)
          if fits.contains("Add") { made.append(id) }
        }
        guard fits.contains(asked.request.operation ?? "") else {
          await #expect(throws: Failure.self) {
            _ = try await Self.enqueue([asked], world, caller)
          }
          continue
        }
        let id = try await Self.enqueue([asked], world, caller)
        ids += id
        if asked.request.mode == .steady { steady += id }
      }
      upstream.isAway = Bool.random(using: &random)
      if Bool.random(using: &random) {
        Self.wake(world)
        try await world.until { try world.sync.worker.runningCount == 0 }
      }
      let next = Self.deployment(&random)
      fits = next.fits
      try await world.restart(operations: next.text)
    }
    upstream.isAway = false
    try await world.restart(operations: Self.all)
    try await Self.pass(world) {
      for id in ids where try await !world.record(id, of: caller).state.isFinished { return false }
      return true
    }
    for id in ids {
      let mutation = try await world.record(id, of: caller)
      #expect(
        [.applied, .superseded].contains(mutation.state),
        "\(mutation.operation) ended \(mutation.state) \(mutation.reason?.rawValue ?? "")")
    }
    for id in steady {
      #expect(try await world.record(id, of: caller).state == .applied)
      #expect(world.upstream.calls.contains { $0.key == id.value })
    }
  }
}
