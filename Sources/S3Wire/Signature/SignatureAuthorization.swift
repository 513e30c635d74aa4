package import HTTPWire

/// The value of a signed request's `Authorization`.
package struct SignatureAuthorization: Hashable, Sendable {
  package var credential: SignatureCredential
  /// The signed names in lower case, in the signer's order.
  package var signedFields: [String]
  package var signature: String

  package init(credential: SignatureCredential, signedFields: [String], signature: String) {
    self.credential = credential
    self.signedFields = signedFields
    self.signature = signature
  }

  /// Reads a value of the form of ``text``. Blanks around the commas are optional, and the three parts
  /// can be in any order.
  ///
  /// - Returns: nil also for another algorithm, for missing or repeated parts, and if the names of
  ///   fields are not sorted.
  package init?(_ text: String) {
    guard text.hasPrefix("\(SignatureAlgorithm.name) ") else { return nil }
    var parts: [Substring: Substring] = [:]
    for part in text.dropFirst(SignatureAlgorithm.name.count).split(separator: ",") {
      let part = Substring(part).drop { $0 == " " }
      guard let equals = part.firstIndex(of: "="),
        parts.updateValue(
          part[part.index(after: equals)...].prefix { $0 != " " }, forKey: part[..<equals]) == nil
      else { return nil }
    }
    guard parts.count == 3,
      let credential = parts["Credential"].flatMap({ SignatureCredential($0) }),
      let names = parts["SignedHeaders"].flatMap({ Self.names($0) }),
      let signature = parts["Signature"], signature.utf8.count == 64
    else { return nil }
    self.init(credential: credential, signedFields: names, signature: String(signature))
  }

  package var text: String {
    "\(SignatureAlgorithm.name) Credential=\(credential.text), "
      + "SignedHeaders=\(signedFields.joined(separator: ";")), Signature=\(signature)"
  }

  /// The names in a list of signed fields.
  ///
  /// - Returns: nil unless they are in lower case and sorted.
  static func names(_ list: Substring) -> [String]? {
    let names = list.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !$0.isEmpty && $0 == $0.lowercased() }),
      zip(names, names.dropFirst()).allSatisfy({ $0.utf8.lexicographicallyPrecedes($1.utf8) })
    else { return nil }
    return names
  }
}

/// The access key and the scope of a signature:
/// `AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request`.
package struct SignatureCredential: Hashable, Sendable {
  package var accessKey: String
  package var scope: SignatureScope

  package init(accessKey: String, scope: SignatureScope) {
    self.accessKey = accessKey
    self.scope = scope
  }

  /// Reads ``text``.
  package init?(_ text: some StringProtocol) {
    guard let slash = text.firstIndex(of: "/"), slash > text.startIndex,
      let scope = SignatureScope(text[text.index(after: slash)...])
    else { return nil }
    self.init(accessKey: String(text[..<slash]), scope: scope)
  }

  package var text: String { "\(accessKey)/\(scope.text)" }
}

/// The scope in which a signature is valid: a day, a region and a service (AWS Signature Version 4,
/// "credential scope").
package struct SignatureScope: Hashable, Sendable {
  private static let end = "aws4_request"

  /// `yyyyMMdd`, UTC.
  package var day: String
  package var region: String
  package var service: String

  package init(day: String, region: String, service: String = "s3") {
    self.day = day
    self.region = region
    self.service = service
  }

  /// Reads ``text``.
  package init?(_ text: some StringProtocol) {
    let parts = Substring(text).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[3] == Self.end, parts[0].utf8.count == 8,
      parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }), !parts[1].isEmpty,
      !parts[2].isEmpty
    else { return nil }
    self.init(day: String(parts[0]), region: String(parts[1]), service: String(parts[2]))
  }

  /// The form in a credential and in the string to sign: `20130524/us-east-1/s3/aws4_request`.
  package var text: String { "\(day)/\(region)/\(service)/\(Self.end)" }
}

/// The time of a signature, in the compact form that is signed: `20130524T000000Z`.
package struct SignatureTime: Hashable, Sendable {
  package let date: HTTPDate
  /// `yyyyMMdd'T'HHmmss'Z'`.
  package let text: String

  package init(_ date: HTTPDate) {
    self.date = date
    var bytes: [UInt8] = []
    date.appendTimestamp(to: &bytes)
    bytes.removeAll { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// Reads ``text``.
  ///
  /// - Returns: nil unless it is a valid time in this form.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else {
      return nil
    }
    func digits(_ range: Range<Int>) -> Substring {
      Substring(decoding: bytes[range], as: UTF8.self)
    }
    let iso =
      "\(digits(0..<4))-\(digits(4..<6))-\(digits(6..<8))T"
      + "\(digits(9..<11)):\(digits(11..<13)):\(digits(13..<15))Z"
    guard let date = HTTPDate(isoText: iso) else { return nil }
    self.date = date
    self.text = String(text)
  }

  /// `yyyyMMdd`, the day of a scope.
  package var day: String { String(text.prefix(8)) }
}

/// The only supported algorithm: AWS Signature Version 4.
package enum SignatureAlgorithm {
  package static let name = "AWS4-HMAC-SHA256"
}
