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
