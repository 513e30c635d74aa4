import Larder

/// The commands of the benchmark. Times are seconds.
struct Measurements {
  /// The changed entities are the first ones of this list.
  private static let query = EntityQuery(
    type: "Trip", conditions: [.compare("days", .greater, 38)],
    order: [.init("days", isDescending: true)], limit: 50)
  /// Above all that the server's entities have.
  private static let longestDays = 1_000

  let larder: Larder

  func carryOut(_ command: JSONValue) async throws -> JSONValue {
    let count = command["count"]?.int ?? 1
    switch command["do"]?.string {
    case "signIn":
      try await larder.signIn(
        email: command["email"]?.string ?? "", password: command["password"]?.string ?? "")
      try await larder.follow("trips", types: ["Trip"])
      return [:]
    case "sync":
      let began = ContinuousClock.now
      let result = try await larder.sync()
      let seconds = seconds(since: began)
      return ["seconds": .number(seconds), "applied": .number(JSONNumber(result.applied))]
    case "count":
      let query = EntityQuery(type: "Trip")
      return ["count": .number(JSONNumber(try await larder.read { try $0.count(query) }))]
    case "observe": return ["seconds": .array(try await observedWrites(count))]
    case "submit": return ["seconds": .array(try await submissions(count))]
    default: throw UnknownCommand()
    }
  }

  /// From the call of a local write to the new result of a query that is observed.
  private func observedWrites(_ count: Int) async throws -> [JSONValue] {
    let (updates, continuation) = AsyncStream<ContinuousClock.Instant>.makeStream()
    let observation = larder.observe(Self.query)
    let observer = Task {
      defer { continuation.finish() }
      for try await _ in observation { continuation.yield(.now) }
    }
    defer { observer.cancel() }
    var update = updates.makeAsyncIterator()
    _ = await update.next()
    var times: [JSONValue] = []
    for number in 0..<count {
      let days = JSONNumber(Self.longestDays + number)
      let operation: JSONValue = [
        "op": "update", "type": "Trip", "id": .string("t\(number)"),
        "data": ["days": .number(days)],
      ]
      let began = ContinuousClock.now
      let key = try await larder.write([operation])
      guard let shown = await update.next() else { throw CancellationError() }
      times.append(.number(JSONNumber((shown - began) / .seconds(1))))
      try await withdraw([key])
      _ = await update.next()
    }
    return times
  }

  /// Until each item is durable.
  private func submissions(_ count: Int) async throws -> [JSONValue] {
    var times: [JSONValue] = []
    var keys: [String] = []
    for number in 0..<count {
      let id = "t\(number)"
      let variables: JSONValue = ["id": .string(id), "title": "Another title"]
      let change = OptimisticChange(
        .merge, type: "Trip", id: id, fields: ["title": "Another title"])
      let began = ContinuousClock.now
      keys.append(
        try await larder.submit(
          "RenameTrip", variables: variables, object: "Trip:\(id)", optimistic: [change]))
      times.append(.number(seconds(since: began)))
    }
    try await withdraw(keys)
    return times
  }

  /// Leaves no trace of items, so that all rounds find the same.
  private func withdraw(_ keys: [String]) async throws {
    for key in keys { try await larder.discard(key) }
    try await larder.forgetOutcomes(keys)
  }

  private func seconds(since began: ContinuousClock.Instant) -> JSONNumber {
    JSONNumber((ContinuousClock.now - began) / .seconds(1))
  }
}

struct UnknownCommand: Error {}
