import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// `/v1/admin/s3/keys`: the access keys of the S3 dialect.
struct S3KeysEndpoint: Sendable {
  let context: EndpointContext
  let keys: S3Keys

  func issue(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let newKey = try S3KeyDocument.newKey(try await context.json(of: request))
      let issued = try await keys.issue(
        user: newKey.user, buckets: newKey.buckets, isReadOnly: newKey.isReadOnly)
      return .json(S3KeyDocument.bytes(issued), status: .created)
    }
  }

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      return .json(S3KeyDocument.bytes(try await keys.all()))
    }
  }

  func revoke(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      try await keys.revoke(request.parameters["id"] ?? "")
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    }
  }
}

/// Access keys of the S3 dialect as JSON.
enum S3KeyDocument {
  /// The maximum length of a user id, as everywhere.
  private static let userBytesMax = 256
  private static let bucketsMax = 1000
  private static let memberNames = ["userId", "buckets", "readOnly"]

  /// The user, the buckets and the rights of a new key.
  struct NewKey {
    var user: String?
    var buckets: [BucketName]?
    var isReadOnly = false
  }

  /// Reads `{"userId"?, "buckets"?, "readOnly"?}`.
  static func newKey(_ bytes: [UInt8]) throws(Failure) -> NewKey {
    let body = try ObjectBody.object(bytes)
    var faults = ObjectBody.unknownMembers(of: body, known: memberNames)
    var newKey = NewKey()
    if let value = body["userId"], value != .null {
      newKey.user = value.string
      if !(1...userBytesMax).contains(newKey.user?.utf8.count ?? 0) {
        faults.append(
          ObjectBody.fault("/userId", "must be a string of 1 to \(userBytesMax) bytes"))
      }
    }
    if let value = body["buckets"], value != .null {
      let names = value.array?.map { $0.string.flatMap { BucketName($0) } } ?? []
      newKey.buckets = names.compactMap { $0 }
      if !(1...bucketsMax).contains(names.count) || names.contains(nil) {
        faults.append(
          ObjectBody.fault("/buckets", "must be an array of 1 to \(bucketsMax) bucket names"))
      }
    }
    if let value = body["readOnly"], value != .null {
      guard let flag = value.bool else {
        faults.append(ObjectBody.fault("/readOnly", "must be true or false"))
        throw refusal(faults)
      }
      newKey.isReadOnly = flag
    }
    guard faults.isEmpty else { throw refusal(faults) }
    return newKey
  }

  private static func refusal(_ faults: [Failure.Detail]) -> Failure {
    Failure(.malformedRequest, "The access key request is invalid.", details: faults)
  }

  /// A new key with its secret, which is shown only once.
  static func bytes(_ issued: S3Keys.Issued) -> [UInt8] {
    var value = self.value(issued.key)
    value["secretAccessKey"] = .string(issued.secret)
    return value.bytes
  }

  static func bytes(_ keys: [S3Key]) -> [UInt8] {
    let value: JSONValue = ["keys": .array(keys.map { self.value($0) })]
    return value.bytes
  }

  private static func value(_ key: S3Key) -> JSONValue {
    var value: JSONValue = [
      "accessKeyId": .string(key.id), "readOnly": .bool(key.isReadOnly),
      "createdAt": .number(JSONNumber(key.created.milliseconds)),
    ]
    if let user = key.user { value["userId"] = .string(user) }
    if let buckets = key.buckets { value["buckets"] = .array(buckets.map { .string($0.text) }) }
    if let revoked = key.revoked {
      value["revokedAt"] = .number(JSONNumber(revoked.milliseconds))
    }
    return value
  }
}
