extension MatrixRequests {
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
          body: #"{"operation":"Nothing","mode":"lazy","variables":{}}"#)
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
