import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

/// A running service, its callers, and the data of each.
final class MatrixWorld {
  let larder: RunningLarder
  /// The lines of the route table, `METHOD /pattern`.
  let routes: [String]
  /// The responses in which owners saw their own data, by the owner's word.
  private var owned: [String: [MatrixResponse]] = [:]
  private var kept: [String: MatrixSecrets] = [:]
  private var devices: [String: String] = [:]
  private var sessions: [String: Ways.AccountTests.Session] = [:]

  private static let settings = """
    types:
      User: {search: [name], index: [name]}
      FilmList: {search: [name, note]}
      Film: {search: [title, mark, remark], index: [mark]}
    limits: {requestsPerConnection: 100000}
    devices: {rate: 1000}
    accounts: {passwordCost: 10}
    files: {buckets: {pics: {access: user}}}
    """

  private static let operations = [
    "me": """
    query Me @route(path: "/me") @cache(maxAge: 600) {
      me { id name memberSince lists { id name note } watchlist { id title } }
    }
    query Watchlist @route(path: "/me/watchlist") @cache(maxAge: 600) {
      watchlist @complete { id title }
    }
    query Fresh { me { id name } }
    query MyFilm($id: ID!) @route(path: "/films/{id}/mine") @cache(maxAge: 600) {
      film(id: $id) { id title myStars }
    }
    """,
    "films": """
    query Film($id: ID!) @route(path: "/films/{id}") @cache(maxAge: 600, scope: PUBLIC) {
      film(id: $id) { id title year }
    }
    query Films($limit: Int = 20) @route(path: "/films") @cache(maxAge: 600, scope: PUBLIC) {
      films(limit: $limit) { id title year }
    }
    """,
    "writing": """
    mutation CreateList($input: FilmListInput!) @effects(invalidates: ["Me"]) {
      createList(input: $input) { list { id name note } userErrors { message } }
    }
    mutation AddToWatchlist($filmId: ID!) @effects(invalidates: ["Watchlist", "Me"]) {
      addToWatchlist(filmId: $filmId) { id watchlist { id title } }
    }
    mutation Rename($id: ID!, $patch: FilmPatch!) @effects(updates: ["Film:$id"]) {
      updateFilm(id: $id, patch: $patch) { id title year }
    }
    """,
  ]

  private static let localTypes = """
    extend type Film {
      mark: String @local
      remark: String @local(scope: USER)
    }
    fragment Mark on Film { mark remark }
    interface Named { name: String! }
    type Notebook implements Named @local {
      id: ID!
      name: String!
      notes: [Note!]! @inverse(field: "book", onDelete: DENY)
    }
    type Note @local {
      id: ID!
      text: String!
      book: Notebook @inverse(field: "notes")
      film: Film
    }
    type Wish @local(scope: USER) {
      id: ID!
      text: String!
    }
    """

  /// Starts a service and reads once everything public that the requests of the matrix fetch.
  ///
  /// - Parameter more: further lines of the settings.
  static func start(settings more: String = "") async throws -> MatrixWorld {
    let larder = try await RunningLarder.start(
      settings: "\(settings)\n\(more)", operations: operations, localTypes: localTypes)
    let world = MatrixWorld(larder)
    for caller in MatrixCaller.all { try await world.admit(caller) }
    for caller in MatrixCaller.all where caller.kind.hasToken {
      try await world.rate("f1", stars: caller.rank % 5 + 1, by: caller)
    }
    for caller in MatrixCaller.all {
      for target in [
        "/api/films", "/api/films/f1", "/api/films/f2", "/api/films/f30", "/api/me",
        "/api/me/watchlist",
        "/api/films/f1/mine",
      ] {
        #expect(try await world.response(to: .get(target), by: caller).status == 200)
      }
    }
    return world
  }

  private init(_ larder: RunningLarder) {
    self.larder = larder
    routes = larder.routes
  }

  func stop() async { await larder.stop() }

  /// Gives a caller its device, account or token.
  func admit(_ caller: MatrixCaller) async throws {
    if caller.kind.hasDevice {
      devices[caller.word] = try await Ways.DeviceTests.register(larder).token
    }
    if caller.kind == .user {
      sessions[caller.word] = try await Ways.AccountTests.signUp(larder, caller.word)
    }
  }

  // MARK: Requests

  /// The header fields that a caller sends with every request.
  func headers(of caller: MatrixCaller) -> [(String, String)] {
    let device = devices[caller.word].map { [("Device-Token", $0)] } ?? []
    let authorization = caller.authorization ?? sessions[caller.word]?.bearer
    return device + [authorization].compactMap { $0 }
  }

  func response(
    to ask: MatrixAsk, by caller: MatrixCaller
  ) async throws -> RawResponse {
    let own = headers(of: caller).filter { own in !ask.headers.contains { $0.0 == own.0 } }
    return try await larder.request(
      ask.method, ask.target, headers: own + ask.headers, body: ask.body)
  }

  func answer(to ask: MatrixAsk, by caller: MatrixCaller) async throws -> MatrixResponse {
    guard ask.isStream else { return MatrixResponse(try await response(to: ask, by: caller)) }
    let events = try await EventClient.open(
      port: larder.port, ask.target, headers: headers(of: caller) + ask.headers, body: ask.body)
    var first = events.status == 200 ? try await events.nextEvent() : nil
    // A live stream begins with its own id, which is new each time.
    if first?.event == "open" { first = try await events.nextEvent() }
    return MatrixResponse(status: events.status, firstEvent: first)
  }

  private func json(
    _ method: String, _ target: String, by caller: MatrixCaller, _ body: String? = nil
  ) async throws -> JSONValue {
    let answer = try await response(to: MatrixAsk(method, target, body: body), by: caller)
    #expect(answer.status < 300, "\(caller): \(method) \(target): \(answer.text)")
    return answer.body.isEmpty ? [:] : try JSONValue(parsing: answer.body)
  }

  // MARK: Planting

  /// Creates all data that a caller can own, with the owner's word in all of it.
  func plant(_ caller: MatrixCaller) async throws -> MatrixSecrets {
    var secrets = MatrixSecrets(
      word: caller.word, listID: "l-none", revision: "none", tags: [], listTag: "none",
      cursor: "", pageToken: nil)
    if caller.kind.hasToken { try await plantUpstream(caller, &secrets) }
    if caller.kind.hasDevice { try await plantLocal(caller, &secrets) }
    if caller.kind.hasDevice { try await plantMutation(caller, &secrets) }
    if caller.kind == .user { try await plantWishes(caller, &secrets) }
    try await plantMarks(caller)
    if let session = sessions[caller.word] { try await plantFile(caller, session, &secrets) }
    for target in [
      "/api/me", "/api/films/f1/mine", "/v1/entities", "/v1/entities/User?total=true",
      "/v1/entities/Note?total=true", "/v1/entities/User/\(secrets.userID)",
      "/v1/entities/Note/\(secrets.noteID)", "/v1/search?q=\(caller.word)",
      "/v1/entities/Wish?total=true", "/v1/entities/Wish/\(secrets.wishID)",
      "/v1/entities/Film/f1?view=Mark", "/v1/entities/Named?total=true",
      "/v1/files/pics/\(secrets.accountID)/\(secrets.noteID).txt",
      "/v1/mutations/\(secrets.mutationID)",
    ] {
      let answer = try await response(to: .get(target), by: caller)
      let open = try await larder.get(target)
      // A tag that every caller sees is no secret.
      if let tag = answer["etag"], tag != open["etag"] { secrets.tags.append(tag) }
    }
    kept[caller.word] = secrets
    let mine = try await belongings(of: caller)
    #expect(mine.contains { $0.text.lowercased().contains(caller.word) }, "\(caller) sees nothing")
    owned[caller.word] = mine
    let head = try await json("GET", "/v1/changes?since=now", by: caller)
    secrets.cursor = try #require(head["cursor"]?.string)
    return secrets
  }

  private func plantUpstream(_ caller: MatrixCaller, _ secrets: inout MatrixSecrets) async throws {
    let word = caller.word
    for _ in 0..<caller.rank {
      let made = try await json(
        "POST", "/v1/operations/CreateList", by: caller,
        #"{"input":{"name":"List of \#(word)","note":"Note of \#(word)"}}"#)
      secrets.listID = try #require(made["data"]?["createList"]?["list"]?["id"]?.string)
    }
    // Each owner's list extends another's, so that a diff between them is short.
    for number in 1...caller.rank * 2 {
      _ = try await json(
        "POST", "/v1/operations/AddToWatchlist", by: caller, #"{"filmId":"f\#(number)"}"#)
    }
    let mine = try await json("GET", "/api/me", by: caller)
    #expect(mine["data"]?["me"]?["id"]?.string == secrets.userID)
    _ = try await json("GET", "/api/me/watchlist", by: caller)
    let diff = try await json("GET", "/v1/operations/Watchlist/diff", by: caller)
    #expect(diff["count"]?.int64 == Int64(caller.rank * 2))
    secrets.listTag = String((diff["etag"]?.string ?? "").dropFirst().dropLast())
  }

  private func plantLocal(_ caller: MatrixCaller, _ secrets: inout MatrixSecrets) async throws {
    _ = try await json(
      "PATCH", "/v1/devices/me", by: caller,
      #"{"name":"Phone of \#(caller.word)","pushToken":"push-\#(caller.word)"}"#)
    _ = try await json(
      "PUT", "/v1/entities/Notebook/\(secrets.bookID)", by: caller,
      #"{"name":"Book of \#(caller.word)"}"#)
    for id in [secrets.noteID] + (1..<caller.rank).map({ "\(secrets.noteID)-\($0)" }) {
      let note = try await json(
        "PUT", "/v1/entities/Note/\(id)", by: caller,
        #"{"text":"Text of \#(caller.word)","book":"\#(secrets.bookID)","film":"f1"}"#)
      secrets.revision = try #require(note["_rev"]?.string)
    }
    let page = try await json("GET", "/v1/entities/Note?limit=1&order=text", by: caller)
    secrets.pageToken = try #require(page["next"]?.string)
  }

  /// Writes local fields of a film that every caller sees.
  private func plantMarks(_ caller: MatrixCaller) async throws {
    let fields = [
      caller.kind.hasDevice ? #"{"mark":"Mark of \#(caller.word)"}"# : nil,
      caller.kind == .user ? #"{"remark":"Remark of \#(caller.word)"}"# : nil,
    ]
    for body in fields.compactMap(\.self) {
      let film = try await json("PATCH", "/v1/entities/Film/f1", by: caller, body)
      #expect(film.text.contains(caller.word), "\(caller)")
    }
  }

  private func plantWishes(_ caller: MatrixCaller, _ secrets: inout MatrixSecrets) async throws {
    for id in [secrets.wishID] + (1..<caller.rank).map({ "\(secrets.wishID)-\($0)" }) {
      let wish = try await json(
        "PUT", "/v1/entities/Wish/\(id)", by: caller, #"{"text":"Text of \#(caller.word)"}"#)
      secrets.revision = try #require(wish["_rev"]?.string)
    }
  }

  /// Enqueues a mutation that waits, since its queue is paused, under a key that other callers try too. It
  /// changes nothing upstream if its owner, who is a caller of other owners' queues as well, resumes the
  /// queue.
  private func plantMutation(_ caller: MatrixCaller, _ secrets: inout MatrixSecrets) async throws {
    _ = try await json("POST", "/v1/queue/pause", by: caller)
    let ask = MatrixAsk(
      "POST", "/v1/mutations", headers: [("Idempotency-Key", "\"key-\(caller.word)\"")],
      body: #"{"operation":"Rename","mode":"steady","variables":"#
        + #"{"id":"film-\#(caller.word)","patch":{"title":"Title of \#(caller.word)"}}}"#)
    let answer = try await response(to: ask, by: caller)
    #expect(answer.status == 202, "\(caller): \(answer.text)")
    secrets.mutationID = try #require(
      try JSONValue(parsing: answer.body)["id"]?.string, "\(answer.text)")
  }

  private func plantFile(
    _ caller: MatrixCaller, _ session: Ways.AccountTests.Session, _ secrets: inout MatrixSecrets
  ) async throws {
    secrets.accountID = session.user
    let target = "/v1/files/pics/\(session.user)/\(secrets.noteID).txt"
    let ask = MatrixAsk("PUT", target, body: "Text of \(caller.word)")
    let answer = try await response(to: ask, by: caller)
    #expect(answer.status == 201, "\(caller): \(answer.text)")
  }

  /// Sends a rating that only its author sees to upstream directly.
  private func rate(_ film: String, stars: Int, by caller: MatrixCaller) async throws {
    let port = try #require(URL(string: larder.demo.url)?.port)
    let headers = [caller.authorization].compactMap { $0 } + [("Content-Type", "application/json")]
    let body = #"{"query":"mutation { rateFilm(id: \"\#(film)\", stars: \#(stars)) { id } }"}"#
    let answer = try await onOwnThread {
      try RawClient(port: port).request("POST", "/graphql", headers: headers, body: body)
    }
    #expect(answer.status == 200 && !answer.text.contains("errors"), "\(answer.text)")
  }

  // MARK: Cleaning up and checking

  /// A cursor of a caller who owns no data and sends no other requests.
  func emptyCallersCursor() async throws -> String {
    let answer = try await larder.get(
      "/v1/changes?since=now", ("Authorization", "Bearer user-zzghost"))
    return try #require(try JSONValue(parsing: answer.body)["cursor"]?.string)
  }

  /// Removes data that a caller's attempts at an owner's ids have left with the caller.
  func tidy(_ caller: MatrixCaller, after secrets: MatrixSecrets) async throws {
    for target in [
      "Note/\(secrets.noteID)", "Notebook/\(secrets.bookID)", "Wish/\(secrets.wishID)",
    ] {
      _ = try await response(to: MatrixAsk("DELETE", "/v1/entities/\(target)"), by: caller)
    }
  }

  func owns(_ caller: MatrixCaller) -> Bool { owned[caller.word] != nil }

  /// Checks that all of an owner's data is unchanged.
  func checkPlanted(_ caller: MatrixCaller) async throws {
    for (now, then) in zip(try await belongings(of: caller), owned[caller.word] ?? []) {
      #expect(now == then, "\(caller) lost something")
    }
  }

  private func belongings(of caller: MatrixCaller) async throws -> [MatrixResponse] {
    var answers: [MatrixResponse] = []
    let secrets = kept[caller.word]
    for target in [
      "/v1/files/pics/\(secrets?.accountID ?? "")/note-\(caller.word).txt",
      "/api/me", "/v1/devices/me", "/v1/entities/User/u-\(caller.word)",
      "/v1/entities/Note/note-\(caller.word)", "/v1/entities/Notebook/book-\(caller.word)",
      "/v1/entities/Notebook/book-\(caller.word)/notes?total=true", "/v1/auth/me",
      "/v1/entities/Wish/wish-\(caller.word)", "/v1/entities/Wish?total=true",
      "/v1/entities/Film/f1?view=Mark", "/v1/entities/Named?order=name&total=true",
      "/v1/search?q=\(caller.word)&limit=100",
    ] {
      answers.append(try await answer(to: .get(target), by: caller))
    }
    return answers
  }
}
