/// The requests to each route of the table with another caller's secrets.
///
/// Every route is listed by its line of the table, `METHOD /pattern`; a missing one fails the matrix. A new
/// route needs an entry with the requests that another caller would try: with the owner's ids, tags,
/// revisions, cursors and tokens, wherever the route takes any.
enum MatrixRequests {
  typealias Make = @Sendable (MatrixSecrets) -> [MatrixAsk]

  /// The requests for a route; nil if it has no entry.
  static func all(of route: String, _ secrets: MatrixSecrets) -> [MatrixAsk]? {
    byRoute[route].map { $0(secrets) } ?? below(route, secrets)
  }

  /// The routes below a query's route: tried as the query is, and with tags and lists.
  private static func below(_ route: String, _ secrets: MatrixSecrets) -> [MatrixAsk]? {
    let words = route.split(separator: " ")
    guard words.count == 2, words[1].hasPrefix("/api/"), let slash = words[1].lastIndex(of: "/"),
      let target = byRoute["GET \(words[1][..<slash])"]?(secrets).first?.target
    else { return nil }
    switch (words[0], words[1][slash...]) {
    case ("GET", "/stream"): return [.stream("\(target)/stream")]
    case ("GET", "/diff"): return [.get("\(target)/diff?from=\(quoted(secrets.listTag))")]
    case ("POST", "/diff"):
      let have = #"{"have":[["FilmList/\#(secrets.listID)","\#(secrets.revision)"]]}"#
      return [MatrixAsk("POST", "\(target)/diff", body: have)]
    default: return nil
    }
  }

  static let byRoute: [String: Make] = operating.merging(operations) { first, _ in first }
    .merging(graphQL) { first, _ in first }
    .merging(devices) { first, _ in first }
    .merging(accounts) { first, _ in first }
    .merging(changes) { first, _ in first }
    .merging(entities) { first, _ in first }
    .merging(live) { first, _ in first }
    .merging(localWrites) { first, _ in first }
    .merging(files) { first, _ in first }
    .merging(s3) { first, _ in first }
    .merging(mutations) { first, _ in first }
    .merging(push) { first, _ in first }
    .merging(admin) { first, _ in first }

  /// A tag as a query parameter.
  static func quoted(_ tag: String) -> String { "%22\(tag)%22" }

  /// A read, without a condition and with every tag that the owner got.
  static func read(_ target: String, _ secrets: MatrixSecrets) -> [MatrixAsk] {
    [.get(target), .get(target, ("If-None-Match", secrets.tags.joined(separator: ", ")))]
  }

  private static let operating: [String: Make] = [
    "GET /healthz": { _ in [.get("/healthz")] },
    "GET /readyz": { _ in [.get("/readyz")] },
    // Counts the requests of all callers.
    "GET /metrics": { _ in [.get("/metrics", comparison: .words)] },
    "GET /openapi.json": { _ in [.get("/openapi.json")] },
    "GET /client/{file}": { secrets in
      read("/client/larder.js", secrets) + [.get("/client/\(secrets.noteID)")]
    },
    "GET /v1/operations": { _ in [.get("/v1/operations")] },
    "GET /{path...}": { secrets in [.get("/"), .get("/\(secrets.noteID)")] },
  ]

  // MARK: Devices

  /// A token that does not exist, so that no caller's own device is deleted.
  private static let invalidToken = ("Device-Token", String(repeating: "A", count: 43))

  private static let devices: [String: Make] = [
    "POST /v1/devices": { secrets in
      [
        MatrixAsk(
          "POST", "/v1/devices",
          body: #"{"platform":"ios","name":"x","pushToken":"push-\#(secrets.word)"}"#,
          comparison: .form)
      ]
    },
    "GET /v1/devices/me": { read("/v1/devices/me", $0) },
    "PATCH /v1/devices/me": { secrets in
      [MatrixAsk("PATCH", "/v1/devices/me", body: "{}")]
    },
    "DELETE /v1/devices/me": { _ in
      [MatrixAsk("DELETE", "/v1/devices/me", headers: [invalidToken])]
    },
    "POST /v1/devices/me/rotate": { _ in
      [MatrixAsk("POST", "/v1/devices/me/rotate", headers: [invalidToken])]
    },
    "POST /v1/devices/me/reset": { _ in
      [MatrixAsk("POST", "/v1/devices/me/reset", headers: [invalidToken])]
    },
    "POST /v1/devices/me/tokens": { _ in
      [
        MatrixAsk(
          "POST", "/v1/devices/me/tokens", headers: [invalidToken],
          body: #"{"access":"read","expiresIn":60}"#)
      ]
    },
    "GET /v1/devices/me/tokens": { read("/v1/devices/me/tokens", $0) },
    "DELETE /v1/devices/me/tokens/{id}": { secrets in
      [MatrixAsk("DELETE", "/v1/devices/me/tokens/dt_\(secrets.word)")]
    },
    "POST /v1/stream-tickets": { _ in
      [
        MatrixAsk("POST", "/v1/stream-tickets", comparison: .form),
        MatrixAsk(
          "POST", "/v1/stream-tickets",
          body: #"{"renewable":true,"path":"/v1/changes/stream"}"#, comparison: .form),
      ]
    },
  ]

  // MARK: Accounts

  /// Responses that say whether an account exists, or count attempts, differ on purpose.
  private static func account(_ path: String, _ body: String) -> MatrixAsk {
    MatrixAsk("POST", "/v1/auth/\(path)", body: body, comparison: .words)
  }

  private static let accounts: [String: Make] = [
    "POST /v1/auth/sign-up": { secrets in
      [account("sign-up", #"{"email":"\#(secrets.email)","password":"short"}"#)]
    },
    "POST /v1/auth/sign-in": { secrets in
      [account("sign-in", #"{"email":"\#(secrets.email)","password":"wrong horse"}"#)]
    },
    "POST /v1/auth/check-password": { secrets in
      [account("check-password", #"{"email":"\#(secrets.email)","password":"wrong horse"}"#)]
    },
    "POST /v1/auth/refresh": { secrets in
      [account("refresh", #"{"refreshToken":"\#(secrets.word)"}"#)]
    },
    "POST /v1/auth/sign-out": { secrets in
      [account("sign-out", #"{"refreshToken":"\#(secrets.word)"}"#)]
    },
    "PUT /v1/auth/password": { _ in
      [
        MatrixAsk(
          "PUT", "/v1/auth/password",
          body: #"{"currentPassword":"wrong horse","newPassword":"another wrong horse"}"#,
          comparison: .words)
      ]
    },
    "GET /v1/auth/me": { read("/v1/auth/me", $0) },
    "GET /.well-known/jwks.json": { _ in [.get("/.well-known/jwks.json")] },
  ]

  // MARK: Changes

  private static let changes: [String: Make] = [
    "GET /v1/changes": { secrets in
      [
        "", "since=now", "types=User,FilmList,Note,Notebook", "on=insert", "on=delete",
        "since=now&wait=0.05", "since=\(secrets.cursor)", "since=\(secrets.cursor)&wait=0.05",
        "types=User&filter=name%20LIKE%20%3F&arg=%25\(secrets.word)%25",
        "types=Film&filter=mark%20LIKE%20%3F&arg=%25\(secrets.word)%25",
        "types=Note&filter=book.name%20LIKE%20%3F&arg=%25\(secrets.word)%25",
      ].map { .get("/v1/changes?limit=1000&\($0)") }
    },
    "GET /v1/changes/stream": { secrets in
      [
        .stream("/v1/changes/stream?since=now"), .stream("/v1/changes/stream"),
        .stream("/v1/changes/stream?since=\(secrets.cursor)"),
        .stream("/v1/changes/stream?since=now", ("Last-Event-ID", secrets.cursor)),
        .stream("/v1/changes/stream?ticket=\(secrets.word)"),
      ]
    },
  ]

  // MARK: Operators

  private static let admin: [String: Make] = [
    // Attempts are counted for the network.
    "POST /v1/admin/session": { secrets in
      [
        MatrixAsk(
          "POST", "/v1/admin/session", body: #"{"token":"\#(secrets.word)"}"#, comparison: .words)
      ]
    },
    "GET /v1/admin/session": { secrets in
      [.get("/v1/admin/session", ("Cookie", "larder-console=\(secrets.word)"))]
    },
    "DELETE /v1/admin/session": { _ in [MatrixAsk("DELETE", "/v1/admin/session")] },
    "GET /v1/admin/backups": { _ in [.get("/v1/admin/backups")] },
    "GET /v1/admin/devices": { secrets in [.get("/v1/admin/devices?user=\(secrets.accountID)")] },
    "GET /v1/admin/devices/{device}": { secrets in [.get("/v1/admin/devices/d_\(secrets.word)")] },
    "GET /v1/admin/entities/{type}/{id}": { secrets in
      [
        .get("/v1/admin/entities/User/\(secrets.userID)"),
        .get("/v1/admin/entities/Note/\(secrets.noteID)"),
      ]
    },
    "GET /v1/admin/logs": { _ in [.get("/v1/admin/logs")] },
    "GET /v1/admin/operations": { _ in [.get("/v1/admin/operations")] },
    "GET /v1/admin/overview": { _ in [.get("/v1/admin/overview")] },
    "GET /v1/admin/overview/stream": { _ in [.stream("/v1/admin/overview/stream")] },
    "GET /v1/admin/settings": { _ in [.get("/v1/admin/settings")] },
    "GET /v1/admin/users": { secrets in [.get("/v1/admin/users?email=\(secrets.word)")] },
    "GET /v1/admin/users/{user}": { secrets in [.get("/v1/admin/users/\(secrets.accountID)")] },
    "POST /v1/admin/users/{user}/sign-out": { secrets in
      [MatrixAsk("POST", "/v1/admin/users/\(secrets.accountID)/sign-out")]
    },
    "POST /v1/admin/users/{user}/disable": { _ in
      [MatrixAsk("POST", "/v1/admin/users/u_1/disable")]
    },
    "POST /v1/admin/users/{user}/enable": { _ in
      [MatrixAsk("POST", "/v1/admin/users/u_1/enable")]
    },
    "POST /v1/admin/purge": { secrets in
      [
        MatrixAsk(
          "POST", "/v1/admin/purge",
          body: #"{"targets":[{"type":"User","id":"\#(secrets.userID)"}]}"#)
      ]
    },
    "POST /v1/admin/explain": { _ in
      [MatrixAsk("POST", "/v1/admin/explain", body: #"{"operation":"Me"}"#)]
    },
    "POST /v1/admin/sql": { _ in
      [MatrixAsk("POST", "/v1/admin/sql", body: #"{"sql":"SELECT * FROM entity_User"}"#)]
    },
    "GET /v1/admin/subscriptions": { _ in [.get("/v1/admin/subscriptions")] },
    "GET /v1/admin/upstreams": { _ in [.get("/v1/admin/upstreams")] },
    "GET /v1/admin/cluster": { _ in [.get("/v1/admin/cluster")] },
    "GET /v1/admin/hooks": { _ in [.get("/v1/admin/hooks")] },
    "POST /v1/hooks/{name}": { secrets in
      [
        MatrixAsk("POST", "/v1/hooks/\(secrets.word)", body: #"{"deletes":["Film:f1"]}"#),
        MatrixAsk("POST", "/v1/hooks/films", body: #"{"invalidates":["Me"]}"#),
      ]
    },
    "GET /v1/admin/log-level": { _ in [.get("/v1/admin/log-level")] },
    "PUT /v1/admin/log-level": { _ in
      [MatrixAsk("PUT", "/v1/admin/log-level", body: #"{"level":"debug"}"#)]
    },
    "POST /v1/admin/backup": { _ in
      [MatrixAsk("POST", "/v1/admin/backup", body: #"{"name":"x"}"#)]
    },
    "POST /v1/admin/signing-keys/replace": { _ in
      [MatrixAsk("POST", "/v1/admin/signing-keys/replace")]
    },
    "DELETE /v1/admin/users/{user}": { _ in [MatrixAsk("DELETE", "/v1/admin/users/u_1")] },
    "DELETE /v1/admin/devices/{device}": { _ in [MatrixAsk("DELETE", "/v1/admin/devices/d_1")] },
    "GET /v1/admin/tables": { _ in [.get("/v1/admin/tables")] },
    "POST /v1/admin/tables/clean-up": { _ in [MatrixAsk("POST", "/v1/admin/tables/clean-up")] },
    "DELETE /v1/admin/tables/{type}": { _ in [MatrixAsk("DELETE", "/v1/admin/tables/User")] },
  ]
}
