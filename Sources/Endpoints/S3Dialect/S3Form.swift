import HTTPWire
import LosslessJSON
import Model

/// The fields of an upload form (POST Object) that precede its file.
struct S3Form: Sendable {
  let bucket: BucketName
  /// In order, names in lower case. The key already contains the file's name.
  let fields: [(name: String, value: String)]

  /// The first value of a field, by its name in lower case.
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}

/// The rights that a form's signer grants to its sender.
struct S3FormGrant: Sendable {
  let request: S3Request
  /// The accepted content lengths; nil for any.
  let byteCounts: ClosedRange<Int>?
}

/// The policy of an upload form: its expiry, the allowed fields, and the content length.
struct S3FormPolicy: Sendable {
  /// A condition on one field.
  private struct Condition {
    /// In lower case.
    let name: String
    let text: String
    let isPrefix: Bool

    func holds(for value: String?) -> Bool {
      guard let value else { return isPrefix && text.isEmpty }
      return isPrefix ? value.utf8.starts(with: text.utf8) : value.utf8.elementsEqual(text.utf8)
    }
  }

  /// Fields that need no condition: those of the signature itself, those that only restrict, and
  /// those without meaning.
  private static let free: Set<String> = [
    "awsaccesskeyid", "file", "policy", "signature", "x-amz-signature",
  ]
  private static let freePrefixes = ["x-amz-checksum-", "x-ignore-"]

  private let conditions: [Condition]
  private let expires: HTTPDate
  /// The accepted content lengths; nil for any.
  let byteCounts: ClosedRange<Int>?

  /// - Parameter text: the policy as in the form, JSON in base64.
  init(_ text: String) throws(S3Fault) {
    guard let bytes = Base64.decode(text), let document = try? JSONValue(parsing: bytes),
      document.members != nil
    else { throw Self.fault("must be a JSON object in base64") }
    guard let expiration = document["expiration"]?.string,
      let expires = HTTPDate(isoText: expiration)
    else { throw Self.fault("must have an expiration of the form 2030-01-31T12:00:00Z") }
    guard let elements = document["conditions"]?.array else {
      throw Self.fault("must have a list of conditions")
    }
    var conditions: [Condition] = []
    var byteCounts: ClosedRange<Int>?
    for element in elements {
      if let members = element.members {
        guard !members.isEmpty else { throw Self.fault("has an empty condition") }
        for member in members {
          guard let value = member.value.string else {
            throw Self.fault("has a condition on \(member.name) whose value is not a string")
          }
          conditions.append(
            Condition(name: member.name.lowercased(), text: value, isPrefix: false))
        }
      } else if let range = try Self.byteCounts(element) {
        let known = byteCounts ?? range
        guard known.overlaps(range) else {
          throw Self.fault("has content-length-ranges that exclude each other")
        }
        byteCounts = known.clamped(to: range)
      } else {
        conditions.append(try Self.condition(element))
      }
    }
    self.conditions = conditions
    self.expires = expires
    self.byteCounts = byteCounts
  }

  /// - Parameter fields: names in lower case; includes the bucket.
  /// - Throws: if the policy has expired or does not allow all of the fields.
  func check(_ fields: [(name: String, value: String)], at now: HTTPDate) throws(S3Fault) {
    guard now <= expires else {
      throw S3Fault(.accessDenied, "Invalid according to Policy: Policy expired.")
    }
    for condition in conditions {
      let values = fields.filter { $0.name == condition.name }.map(\.value)
      let holds =
        values.isEmpty ? condition.holds(for: nil) : values.allSatisfy { condition.holds(for: $0) }
      guard holds else {
        throw S3Fault(
          .accessDenied, "Invalid according to Policy: the condition on \(condition.name) failed.")
      }
    }
    let named = Set(conditions.map(\.name))
    for field in fields where !named.contains(field.name) && !Self.isFree(field.name) {
      throw S3Fault(
        .accessDenied, "Invalid according to Policy: no condition allows the field \(field.name).")
    }
  }

  private static func isFree(_ name: String) -> Bool {
    free.contains(name) || freePrefixes.contains(where: name.hasPrefix)
  }

  /// `["content-length-range", 1, 100]`; nil for another condition.
  private static func byteCounts(_ element: JSONValue) throws(S3Fault) -> ClosedRange<Int>? {
    guard let parts = element.array, parts.first?.string?.lowercased() == "content-length-range"
    else { return nil }
    let numbers = parts.dropFirst().map { part in
      part.int64 ?? part.string.flatMap { Int64($0) }
    }
    guard numbers.count == 2, let least = numbers[0], let most = numbers[1], least >= 0,
      least <= most
    else { throw fault("has a content-length-range without a minimum and a maximum length") }
    return Int(least)...Int(most)
  }

  /// `["eq", "$key", "a"]` or `["starts-with", "$key", "a/"]`.
  private static func condition(_ element: JSONValue) throws(S3Fault) -> Condition {
    let parts = (element.array ?? []).compactMap(\.string)
    guard parts.count == 3, element.array?.count == 3, parts[1].hasPrefix("$"),
      ["eq", "starts-with"].contains(parts[0].lowercased())
    else { throw fault("has a malformed condition") }
    return Condition(
      name: String(parts[1].dropFirst()).lowercased(), text: parts[2],
      isPrefix: parts[0].lowercased() == "starts-with")
  }

  private static func fault(_ problem: String) -> S3Fault {
    S3Fault(.invalidPolicyDocument, "The form's policy \(problem).")
  }
}
