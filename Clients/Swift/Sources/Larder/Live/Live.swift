import Foundation

/// What a live sequence follows.
public enum LiveSubject: Hashable, Sendable {
  /// A query, sent again when what it shows changes; or a subscription.
  case operation(String, variables: JSONValue = [:])
  /// The path of a list, an entity or a relationship below `/v1/entities`, which begins with one slash.
  case collection(String)
  /// Changes of entities, from now on or after a cursor.
  case changes(types: [String], since: String = "now")
}

/// An event of a subject.
public struct LiveEvent: Hashable, Sendable {
  /// How an event came.
  public enum Source: String, Sendable {
    case stream
    /// No stream can be opened: the library asks from time to time.
    case polling
  }

  /// `message` for queries, `change`, `list` or `diff`, and others of the subject's own stream. After `reset`
  /// of `changes` what was received is void: read again what you hold. Changes go on from then.
  public let name: String
  /// The content, as Larder sends it.
  public let data: JSONValue
  public let source: Source
}

/// Pauses between attempts.
struct LivePauses: Sendable {
  /// Between two polls.
  let poll: Duration
  let longest: Duration
  /// A stream that was open for so long was no failure.
  let steady = Duration.seconds(5)
}

/// Streams that are opened again where they ended, with polling where none can be opened.
struct Live: Sendable {
  private struct Position: Sendable {
    /// The id of the last event.
    var id: String?
    var etag: String?
    /// Whether the caller was told to begin again: changes go on from the present.
    var wasReset = false
  }

  private let path: String
  private let query: [(name: String, value: String)]

  let subject: LiveSubject
  let profiles: Profiles
  let profile: String
  let pauses: LivePauses
  private let sleep: @Sendable (Duration) async throws -> Void

  init(
    _ subject: LiveSubject, profiles: Profiles, profile: String, pauses: LivePauses,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) throws {
    (self.subject, self.profiles, self.profile, self.pauses) = (subject, profiles, profile, pauses)
    self.sleep = sleep
    switch subject {
    case .operation(let name, let variables):
      path = try HTTPRequest.operationPath(name)
      query = Reads.query(variables)
    case .collection(let target):
      let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
      path = parts.first ?? ""
      let items = URLComponents(string: "?" + (parts.count > 1 ? parts[1] : ""))?.queryItems ?? []
      query = items.map { ($0.name, $0.value ?? "") }
    case .changes(let types, _):
      path = "/v1/changes"
      query = types.isEmpty ? [] : [("types", types.joined(separator: ","))]
    }
  }

  /// Follows the subject until the task is cancelled, the profile is not active any more, or the subject
  /// cannot go on.
  func run(_ yield: @escaping @Sendable (LiveEvent) -> Void) async throws {
    try HTTPRequest(path: path).checkPath()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await follow(yield) }
      group.addTask {
        await profiles.waitUntilInactive(profile)
        try Task.checkCancellation()
        throw LarderError.signedOut
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private func follow(_ yield: @Sendable (LiveEvent) -> Void) async throws {
    var position = Position()
    var failures = 0
    while true {
      var retryAfter: Int?
      do {
        if position.id == nil, case .changes = subject, start(position) == "now" {
          position.id = try await head()
        }
        if let stream = try await open(position) {
          let start = ContinuousClock.now
          defer { if start.duration(to: .now) >= pauses.steady { failures = 0 } }
          if try await receive(stream, &position, yield) { return }
        } else {
          try await poll(&position, yield)
          failures = 0
          try await sleep(pauses.poll)
          continue
        }
      } catch let error as LarderError {
        if Self.isFinal(error) { throw error }
        if case .unavailable(_, let seconds) = error { retryAfter = seconds }
      }
      failures += 1
      try await sleep(
        RetryPause.pause(after: failures, longest: pauses.longest, retryAfter: retryAfter))
    }
  }

  /// Whether a subject can never be had.
  private static func isFinal(_ error: LarderError) -> Bool {
    switch error {
    case .offline, .unavailable, .storageFull: false
    case .refused(let problem): problem.status < 500
    default: true
    }
  }

  /// The cursor to begin at; nil for subjects without one.
  private func start(_ position: Position) -> String? {
    guard case .changes(_, let since) = subject else { return nil }
    return position.wasReset ? "now" : since
  }

  /// The cursor of this moment: what changes before the stream is open is not lost.
  private func head() async throws -> String? {
    let request = HTTPRequest(path: path, query: query + [("since", "now")], shape: .changes)
    return try await profiles.send(request, as: profile).content()["cursor"]?.string
  }

  /// The stream; nil where Larder, or what is between, opens none.
  private func open(_ position: Position) async throws -> AsyncThrowingStream<Data, any Error>? {
    var request = HTTPRequest(path: path + "/stream", query: query, shape: .stream)
    request.headers["Accept"] = "text/event-stream"
    if let id = position.id {
      request.headers["Last-Event-ID"] = id
    } else if let start = start(position) {
      request.query.append(("since", start))
    }
    let response = try await profiles.send(request, as: profile)
    if let stream = response.stream { return stream }
    if !response.isForeign, [401, 429, 503].contains(response.status), let error = response.error {
      throw error
    }
    return nil
  }

  /// Passes on events until the stream ends; true if the subject has ended.
  private func receive(
    _ stream: AsyncThrowingStream<Data, any Error>, _ position: inout Position,
    _ yield: @Sendable (LiveEvent) -> Void
  ) async throws -> Bool {
    var parser = EventStreamParser()
    do {
      for try await piece in stream {
        for event in try parser.take(piece) {
          if let id = event.id { position = Position(id: id) }
          guard let data = try? JSONValue(parsing: event.data) else { continue }
          yield(LiveEvent(name: event.name, data: data, source: .stream))
          switch event.name {
          case "complete": return true
          case "reset": position = Position(wasReset: true)
          case "error" where data["retry"] == "never":
            throw LarderError.refused(Problem(status: data["status"]?.int ?? 500, body: data))
          default: break
          }
        }
      }
    } catch let error as LarderError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw LarderError.offline("\(error)", wasSent: true)
    }
    try Task.checkCancellation()
    return false
  }

  /// Asks once for what the stream would send.
  private func poll(
    _ position: inout Position, _ yield: @Sendable (LiveEvent) -> Void
  ) async throws {
    switch subject {
    case .operation:
      var request = HTTPRequest(path: path, query: query, shape: .result)
      if let etag = position.etag { request.headers["If-None-Match"] = etag }
      let response = try await profiles.send(request, as: profile)
      if response.status == 304 { return }
      let body = try response.content()
      position.etag = response.headers["etag"]
      yield(LiveEvent(name: "message", data: body, source: .polling))
    case .collection:
      var request = HTTPRequest(
        path: path + "/diff", query: query, shape: .object(["kind": .string]))
      if let id = position.id { request.query.append(("from", id)) }
      let response = try await profiles.send(request, as: profile)
      if response.status == 304 { return }
      let body = try response.content()
      position.id = body["etag"]?.string
      let name = body["kind"] == "full" ? "list" : "diff"
      yield(LiveEvent(name: name, data: body, source: .polling))
    case .changes:
      // Pages up to a complete one belong together.
      var pages: [JSONValue] = []
      var next = position.id
      repeat {
        let since = [("since", next ?? start(position) ?? "now")]
        let request = HTTPRequest(path: path, query: query + since, shape: .changes)
        let response = try await profiles.send(request, as: profile)
        if response.status == 410 {
          // As in the stream. What changes after this cursor follows what the caller reads again.
          position = Position(id: try await head())
          return yield(LiveEvent(name: "reset", data: response.problem.json, source: .polling))
        }
        let page = try response.content()
        let cursor = page["cursor"]?.string
        guard page["complete"] != false || cursor != next else {
          throw LarderError.unexpectedContent("Changes go on at the cursor at which they began.")
        }
        next = cursor
        pages.append(page)
      } while pages.last?["complete"] == false
      position.id = next
      for change in pages.flatMap({ $0["changes"]?.array ?? [] }) {
        yield(LiveEvent(name: "change", data: change, source: .polling))
      }
    }
  }
}
