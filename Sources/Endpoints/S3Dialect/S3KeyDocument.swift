import Gateway
import LosslessJSON
import Model

/// Access keys of the S3 dialect as JSON.
enum S3KeyDocument {
  /// A user's id is no longer anywhere.
  private static let userBytesMax = 256
  private static let bucketsMax = 1000
  private static let memberNames = ["userId", "buckets", "readOnly"]

  /// What a new key is for.
  struct Wish {
    var user: String?
    var buckets: [BucketName]?
    var isReadOnly = false
  }

  /// `{"userId"?, "buckets"?, "readOnly"?}`.
  static func wish(_ bytes: [UInt8]) throws(Failure) -> Wish {
    let body = try AdminDocument.object(bytes)
    var faults = AdminDocument.unknownMembers(of: body, known: memberNames)
    var wish = Wish()
    if let value = body["userId"], value != .null {
      wish.user = value.string
      if !(1...userBytesMax).contains(wish.user?.utf8.count ?? 0) {
        faults.append(
          AdminDocument.fault("/userId", "is a text of 1 to \(userBytesMax) bytes"))
      }
    }
    if let value = body["buckets"], value != .null {
      let names = value.array?.map { $0.string.flatMap { BucketName($0) } } ?? []
      wish.buckets = names.compactMap { $0 }
      if !(1...bucketsMax).contains(names.count) || names.contains(nil) {
        faults.append(
          AdminDocument.fault("/buckets", "is a list of 1 to \(bucketsMax) buckets' names"))
      }
    }
    if let value = body["readOnly"], value != .null {
      guard let flag = value.bool else {
        faults.append(AdminDocument.fault("/readOnly", "is true or false"))
        throw refusal(faults)
      }
      wish.isReadOnly = flag
    }
    guard faults.isEmpty else { throw refusal(faults) }
    return wish
  }

  private static func refusal(_ faults: [Failure.Detail]) -> Failure {
    Failure(.malformedRequest, "The key cannot be read.", details: faults)
  }

  /// The one showing of a secret.
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
