extension MatrixRequests {
  static let operations: [String: Make] = [
    "GET /api/me": { read("/api/me", $0) },
    "GET /api/me/watchlist": { read("/api/me/watchlist", $0) },
    "GET /api/films": { read("/api/films", $0) },
    "GET /api/films/{id}": { read("/api/films/f1", $0) + [.get("/api/films/\($0.listID)")] },
    "GET /api/films/{id}/mine": { read("/api/films/f1/mine", $0) },
    "GET /v1/operations/{name}": { secrets in
      read("/v1/operations/Me", secrets) + [
        .get("/v1/operations/Watchlist", ("Cache-Control", "only-if-cached")),
        .get("/v1/operations/Me", ("Cache-Control", "no-cache")),
        .get("/v1/operations/Me", ("If-Match", secrets.tags.first ?? "*")),
        .get("/v1/operations/Fresh"), .get("/v1/operations/\(secrets.word)"),
        .get("/v1/operations/Film?id=f2"),
      ]
    },
    "POST /v1/operations/{name}": { secrets in
      [
        MatrixAsk("POST", "/v1/operations/Me", body: "{}"),
        MatrixAsk("POST", "/v1/operations/MyFilm", body: #"{"id":"f1"}"#),
        MatrixAsk("POST", "/v1/operations/MyFilm", body: #"{"id":"\#(secrets.listID)"}"#),
        MatrixAsk("POST", "/v1/operations/CreateList", body: #"{"input":{"name":""}}"#),
      ]
    },
    "GET /v1/operations/{name}/stream": { secrets in
      [.stream("/v1/operations/Me/stream"), .stream("/v1/operations/MyFilm/stream?id=f1")]
        + secrets.tags.map {
          // Without quotes, as events carry it; with another tag than the stream's own the stream begins
          // again.
          .stream(
            "/v1/operations/Me/stream",
            ("Last-Event-ID", String($0.dropFirst().dropLast())))
        }
    },
    "GET /v1/operations/{name}/diff": { secrets in
      [
        .get("/v1/operations/Watchlist/diff?from=\(quoted(secrets.listTag))"),
        .get("/v1/operations/Films/diff?limit=3&from=\(quoted(secrets.listTag))"),
        .get("/v1/operations/Me/diff?from=\(quoted(secrets.listTag))"),
      ]
    },
    "POST /v1/operations/{name}/diff": { secrets in
      ["Watchlist", "Me"].map { name in
        MatrixAsk(
          "POST", "/v1/operations/\(name)/diff",
          body: """
            {"have":[["User/\(secrets.userID)","\(secrets.revision)"],
             ["FilmList/\(secrets.listID)","\(secrets.revision)"]]}
            """)
      }
    },
  ]
}

extension MatrixRequests {
  private static let json = ("Accept", "application/graphql-response+json")
  private static let events = ("Accept", "text/event-stream")
  private static let liveExtension = "extensions=%7B%22live%22%3Atrue%7D"

  /// The same operations for GraphQL clients.
  static let graphQL: [String: Make] = [
    "GET /v1/graphql": { secrets in
      read("/v1/graphql?operationName=Me", secrets) + [
        .get("/v1/graphql?operationName=Watchlist", json, ("Cache-Control", "only-if-cached")),
        .get("/v1/graphql?operationName=Me", json, ("Cache-Control", "no-cache")),
        .get("/v1/graphql?operationName=Me", json, ("If-Match", secrets.tags.first ?? "*")),
        .get("/v1/graphql?operationName=MyFilm&variables=%7B%22id%22%3A%22f1%22%7D", json),
        .get("/v1/graphql?operationName=MyFilm&variables=%7B%22id%22%3A%22\(secrets.listID)%22%7D"),
        .get("/v1/graphql?documentId=\(secrets.word)"),
        .get("/v1/graphql?query=%7B\(secrets.word)%7D"),
        .get("/v1/graphql?operationName=\(secrets.word)"),
        .stream("/v1/graphql?operationName=Me", events),
        .stream("/v1/graphql?operationName=Me&\(liveExtension)", events),
        .stream(
          "/v1/graphql?operationName=Watchlist&\(liveExtension)&ticket=\(secrets.word)", events),
      ]
    },
    "POST /v1/graphql": { secrets in
      [
        #"{"operationName":"Me"}"#,
        #"{"operationName":"Watchlist","variables":{}}"#,
        #"{"operationName":"MyFilm","variables":{"id":"\#(secrets.listID)"}}"#,
        #"{"operationName":"CreateList","variables":{"input":{"name":""}}}"#,
        #"{"query":"query \#(secrets.word) { me { id name } }"}"#,
      ].map { MatrixAsk("POST", "/v1/graphql", body: $0) }
    },
  ]

  private static func mutation(_ method: String, _ rest: String = "") -> Make {
    { secrets in [MatrixAsk(method, "/v1/mutations/\(secrets.mutationID)\(rest)")] }
  }

  /// The queue belongs to the calling device; its own state differs from moment to moment.
  private static func queue(_ action: String) -> Make {
    { _ in [MatrixAsk("POST", "/v1/queue/\(action)", comparison: .words)] }
  }

  private static func operators(_ method: String, _ rest: String = "") -> Make {
    { _ in [MatrixAsk(method, "/v1/admin/queues\(rest)")] }
  }

  static let mutations: [String: Make] = [
    "GET /v1/admin/queues": operators("GET"),
    "GET /v1/admin/queues/{device}/mutations": operators("GET", "/d_1/mutations"),
    "POST /v1/admin/queues/{device}/pause": operators("POST", "/d_1/pause"),
    "POST /v1/admin/queues/{device}/resume": operators("POST", "/d_1/resume"),
    "POST /v1/admin/queues/{device}/flush": operators("POST", "/d_1/flush"),
    "POST /v1/admin/queues/{device}/mutations/{id}/retry":
      operators("POST", "/d_1/mutations/m1/retry"),
    "POST /v1/admin/queues/{device}/mutations/{id}/discard":
      operators("POST", "/d_1/mutations/m1/discard"),
    "POST /v1/mutations": { secrets in
      // Refused, so that nothing is sent upstream; another caller could have used the key.
      [
        MatrixAsk(
          "POST", "/v1/mutations", headers: [("Idempotency-Key", "\"key-\(secrets.word)\"")],
          body: #"{"operation":"Nothing","mode":"lazy","variables":{}}"#),
        MatrixAsk(
          "POST", "/v1/mutations", headers: [("Idempotency-Key", "\"key-\(secrets.word)\"")],
          body: #"{"write":[{"op":"delete","type":"\#(secrets.word)","id":"x"}],"mode":"lazy"}"#),
      ]
    },
    "GET /v1/mutations": { secrets in
      [.get("/v1/mutations"), .get("/v1/mutations?state=\(secrets.word)")]
    },
    "GET /v1/mutations/{id}": mutation("GET"),
    "DELETE /v1/mutations/{id}": mutation("DELETE"),
    "POST /v1/mutations/{id}/retry": mutation("POST", "/retry"),
    "POST /v1/mutations/{id}/discard": mutation("POST", "/discard"),
    "GET /v1/queue": { _ in [.get("/v1/queue", comparison: .words)] },
    "POST /v1/queue/pause": queue("pause"),
    "POST /v1/queue/resume": queue("resume"),
    "POST /v1/queue/flush": queue("flush"),
  ]
}

extension MatrixRequests {
  static let push: [String: Make] = [
    "GET /v1/push/registration": { _ in [.get("/v1/push/registration")] },
    "PUT /v1/push/registration": { _ in [MatrixAsk("PUT", "/v1/push/registration")] },
    "DELETE /v1/push/registration": { _ in [MatrixAsk("DELETE", "/v1/push/registration")] },
    "POST /v1/push/notifications": { secrets in
      // Refused, so that nothing is stored; another caller could have used the key.
      [
        MatrixAsk(
          "POST", "/v1/push/notifications",
          headers: [("Idempotency-Key", "\"key-\(secrets.word)\"")],
          body: #"{"chatId":"c","userIds":["\#(secrets.word)"],"text":""}"#)
      ]
    },
    "GET /v1/push/notifications/{id}": { secrets in
      [.get("/v1/push/notifications/\(secrets.noteID)")]
    },
    "GET /v1/admin/push/notifications": { secrets in
      [
        .get("/v1/admin/push/notifications"),
        .get("/v1/admin/push/notifications?after=\(secrets.noteID)"),
      ]
    },
  ]
}
