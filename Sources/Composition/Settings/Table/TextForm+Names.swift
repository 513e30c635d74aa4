extension TextForm where Value == String {
  /// Text of one line, at least one character.
  static func text(_ noun: String) -> Self {
    checked(noun) { !$0.isEmpty && !$0.unicodeScalars.contains(where: \.isControl) }
  }

  static var path: Self {
    Self(
      noun: "a path",
      parse: { text, folder throws(ValueRefusal) in try FolderPath.resolve(text, in: folder) },
      print: { $0 })
  }

  /// GraphQL's `Name` (October 2021, section 2.1.9), less what introspection keeps for itself.
  static var graphQLName: Self {
    checked("a GraphQL name such as Film") { name in
      guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
      return name.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x5F }
        && !name.hasPrefix("__")
    }
  }

  static var forwardedField: Self {
    Self(
      noun: "a header field name",
      parse: { text, _ throws(ValueRefusal) in try FieldName.parse(text, forwarded: true) },
      print: { $0 })
  }

  static var sentField: Self {
    Self(
      noun: "a header field name",
      parse: { text, _ throws(ValueRefusal) in try FieldName.parse(text, forwarded: false) },
      print: { $0 })
  }

  /// The names every S3-compatible store takes in path and host style alike.
  static var bucketName: Self {
    checked("a bucket name of 3 to 63 lower-case letters, digits and hyphens") { name in
      (3...63).contains(name.utf8.count) && !name.hasPrefix("-") && !name.hasSuffix("-")
        && name.utf8.allSatisfy {
          (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
        }
    }
  }

  static var hostName: Self {
    checked("a host name such as example.eu.auth0.com") { HostName.isValid($0) }
  }

  private static func checked(
    _ noun: String, _ isValid: @escaping @Sendable (String) -> Bool
  ) -> Self {
    Self(
      noun: noun,
      parse: { text, _ throws(ValueRefusal) in
        guard isValid(text) else { throw ValueRefusal() }
        return text
      },
      print: { $0 })
  }
}

extension Unicode.Scalar {
  var isControl: Bool { properties.generalCategory == .control }
}
