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

extension MatrixRequests {
  /// No request here is signed: a bearer token means nothing in the S3 dialect. Another caller's key has no
  /// effect without its secret.
  private static func strangers(_ secrets: MatrixSecrets) -> [(String, String)] {
    [
      (
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=\(secrets.word)/20260101/us-east-1/s3/aws4_request,"
          + "SignedHeaders=host,Signature=\(String(repeating: "0", count: 64))"
      )
    ]
  }

  private static func object(_ secrets: MatrixSecrets) -> String {
    "/s3/pics/\(secrets.accountID)/\(secrets.noteID).txt"
  }

  static let s3: [String: Make] = [
    "GET /s3": { _ in [.get("/s3")] },
    "GET /s3/": { _ in [.get("/s3/")] },
    "GET /s3/{bucket}": { secrets in
      [
        .get("/s3/pics?list-type=2&prefix=\(secrets.accountID)"), .get("/s3/pics?uploads"),
        .get("/s3/pics?location"),
      ]
    },
    "PUT /s3/{bucket}": { secrets in [MatrixAsk("PUT", "/s3/\(secrets.word)")] },
    "POST /s3/{bucket}": { _ in
      [
        MatrixAsk(
          "POST", "/s3/pics?delete",
          body: "<Delete><Object><Key>x</Key></Object></Delete>")
      ]
    },
    "DELETE /s3/{bucket}": { secrets in [MatrixAsk("DELETE", "/s3/\(secrets.word)")] },
    "GET /s3/{bucket}/{key*}": { secrets in
      read(object(secrets), secrets) + [
        MatrixAsk("GET", object(secrets), headers: strangers(secrets), comparison: .words)
      ]
    },
    "PUT /s3/{bucket}/{key*}": { secrets in
      [
        MatrixAsk("PUT", object(secrets), body: "x"),
        MatrixAsk(
          "PUT", "/s3/pics/copy",
          headers: [("x-amz-copy-source", String(object(secrets).dropFirst(3)))]),
      ]
    },
    "POST /s3/{bucket}/{key*}": { secrets in
      [
        MatrixAsk("POST", "\(object(secrets))?uploads"),
        MatrixAsk("POST", "\(object(secrets))?uploadId=x", body: "<a/>"),
      ]
    },
    "DELETE /s3/{bucket}/{key*}": { secrets in [MatrixAsk("DELETE", object(secrets))] },
    "POST /v1/admin/s3/keys": { secrets in
      [MatrixAsk("POST", "/v1/admin/s3/keys", body: #"{"userId":"\#(secrets.accountID)"}"#)]
    },
    "GET /v1/admin/s3/keys": { _ in [.get("/v1/admin/s3/keys")] },
    "DELETE /v1/admin/s3/keys/{id}": { secrets in
      [MatrixAsk("DELETE", "/v1/admin/s3/keys/\(secrets.word)")]
    },
  ]
}
