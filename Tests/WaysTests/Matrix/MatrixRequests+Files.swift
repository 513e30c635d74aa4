extension MatrixRequests {
  /// A user's own keys begin with the user's id.
  private static func keys(_ secrets: MatrixSecrets) -> [String] {
    ["pics/\(secrets.accountID)/\(secrets.noteID).txt", "pics/\(secrets.word)"]
  }

  static let files: [String: Make] = [
    "GET /v1/files": { read("/v1/files", $0) },
    "GET /v1/files/{bucket}": { secrets in
      read("/v1/files/pics?prefix=\(secrets.accountID)", secrets) + [
        .get("/v1/files/\(secrets.word)")
      ]
    },
    "PUT /v1/files/{bucket}": { secrets in [MatrixAsk("PUT", "/v1/files/\(secrets.word)")] },
    "DELETE /v1/files/{bucket}": { secrets in [MatrixAsk("DELETE", "/v1/files/\(secrets.word)")] },
    "GET /v1/files/{bucket}/{key*}": { secrets in
      keys(secrets).flatMap { read("/v1/files/\($0)", secrets) }
    },
    "PUT /v1/files/{bucket}/{key*}": { secrets in
      keys(secrets).map { MatrixAsk("PUT", "/v1/files/\($0)", body: "x") }
    },
    "POST /v1/files/{bucket}/{key*}": { secrets in
      keys(secrets).flatMap { key in
        [
          MatrixAsk(
            "POST", "/v1/files/\(key)/presign", body: #"{"method":"GET","expiresIn":60}"#),
          MatrixAsk("POST", "/v1/files/\(key)/copy", body: #"{"to":"\#(key)-copy"}"#),
          MatrixAsk("POST", "/v1/files/\(key)/uploads"),
        ]
      }
    },
    "DELETE /v1/files/{bucket}/{key*}": { secrets in
      keys(secrets).map { MatrixAsk("DELETE", "/v1/files/\($0)") }
    },
  ]
}
