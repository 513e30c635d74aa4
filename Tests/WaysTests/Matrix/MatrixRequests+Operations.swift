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
