import Filtering
import GraphQL
import Model

/// The text form of one kind of value: parses and validates text, and prints values.
struct TextForm<Value: Sendable>: Sendable {
  /// The noun phrase that completes "must be …".
  let noun: String
  var isSecret = false
  /// - Parameter folder: the folder that a relative path starts from.
  let parse: @Sendable (_ text: String, _ folder: String) throws(ValueRefusal) -> Value
  /// Text that ``parse`` accepts; the mask for a secret.
  let print: @Sendable (Value) -> String
}

extension TextForm where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static var choice: Self {
    let names = Value.allCases.map(\.rawValue)
    let noun = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    return Self(
      noun: noun,
      parse: { text, _ throws(ValueRefusal) in
        if let value = Value(rawValue: text) { return value }
        let nearest = NearestNames.suggestions(for: text, among: names).first
        throw ValueRefusal(nearest.map { "did you mean \($0)?" })
      },
      print: \.rawValue)
  }
}

extension TextForm where Value == Bool {
  static var boolean: Self {
    Self(
      noun: "true or false",
      parse: { text, _ throws(ValueRefusal) in
        switch text {
        case "true": return true
        case "false": return false
        default: throw ValueRefusal()
        }
      },
      print: \.description)
  }
}

extension TextForm where Value == Bool {
  /// Whether a part of the service is on.
  static var onOrOff: Self {
    Self(
      noun: "true or false (or on or off)",
      parse: { text, _ throws(ValueRefusal) in
        switch text {
        case "true", "on": return true
        case "false", "off": return false
        default: throw ValueRefusal()
        }
      },
      print: \.description)
  }
}

extension TextForm where Value == Int {
  static func wholeNumber(_ range: ClosedRange<Int>) -> Self {
    Self(
      noun: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      parse: { text, _ throws(ValueRefusal) in
        guard let number = Int(decimal: text), range.contains(number) else { throw ValueRefusal() }
        return number
      },
      print: \.description)
  }

  static func byteSize(_ range: ClosedRange<Int>) -> Self {
    let bounds = "\(ByteSize.print(range.lowerBound)) to \(ByteSize.print(range.upperBound))"
    return Self(
      noun: "a size from \(bounds)",
      parse: { text, _ throws(ValueRefusal) in
        let bytes = try ByteSize.parse(text)
        guard range.contains(bytes) else { throw ValueRefusal() }
        return bytes
      },
      print: ByteSize.print)
  }
}

extension TextForm where Value == Double {
  /// A decimal number from 0 to 1.
  static var share: Self {
    Self(
      noun: "a number from 0 to 1",
      parse: { text, _ throws(ValueRefusal) in
        // Digits alone: no exponent, no hexadecimal form, no "nan".
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
          let number = Double(text), (0...1).contains(number)
        else { throw ValueRefusal(text.hasSuffix("%") ? "write 1% as 0.01" : nil) }
        return number
      },
      // Without the exponent that `description` has for small numbers.
      print: { number in
        var digits = String(Int((number * 1e9).rounded()))
        if digits.count < 10 { digits = String(repeating: "0", count: 10 - digits.count) + digits }
        var text = "\(digits.dropLast(9)).\(digits.suffix(9))"
        while text.last == "0" { text.removeLast() }
        return text.last == "." ? String(text.dropLast()) : text
      })
  }
}

extension TextForm where Value == Duration {
  static func duration(_ range: ClosedRange<Duration>) -> Self {
    let bounds =
      "\(DurationText.print(range.lowerBound)) to \(DurationText.print(range.upperBound))"
    return Self(
      noun: "a duration from \(bounds)",
      parse: { text, _ throws(ValueRefusal) in
        let duration = try DurationText.parse(text)
        guard range.contains(duration) else { throw ValueRefusal() }
        return duration
      },
      print: DurationText.print)
  }
}

extension TextForm where Value == Secret {
  /// - Parameter lengthMin: the minimum length in characters; shorter secrets can be guessed.
  static func secret(_ noun: String, lengthMin: Int = 1) -> Self {
    Self(
      noun: lengthMin > 1 ? "\(noun) of at least \(lengthMin) characters" : noun,
      isSecret: true,
      parse: { text, _ throws(ValueRefusal) in
        // The secret is sent in a header field, where a line break would begin another field.
        guard text.count >= lengthMin, !text.unicodeScalars.contains(where: \.isControl) else {
          throw ValueRefusal()
        }
        return Secret(text)
      },
      print: \.description)
  }
}

extension TextForm where Value == String {
  /// Text of one line with at least one character.
  static func text(_ noun: String) -> Self {
    checked(noun) { !$0.isEmpty && !$0.unicodeScalars.contains(where: \.isControl) }
  }

  static var path: Self {
    Self(
      noun: "a path",
      parse: { text, folder throws(ValueRefusal) in try FolderPath.resolve(text, in: folder) },
      print: { $0 })
  }

  /// GraphQL's `Name` (October 2021, section 2.1.9), without the names reserved for introspection.
  static var graphQLName: Self {
    checked("a GraphQL name such as Film") { name in
      guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
      return name.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x5F }
        && !name.hasPrefix("__")
    }
  }

  /// Names with dots between them.
  static var packageName: Self {
    checked("a package name such as com.example.larder") { name in
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      return parts.allSatisfy { part in
        part.utf8.first.map { !(0x30...0x39).contains($0) } == true
          && part.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x5F }
      }
    }
  }

  /// An entry of `types.<Type>.index`.
  static var indexedField: Self {
    checked("a field or a key path such as year, maker.lastName or title[cd]") {
      IndexDeclaration($0) != nil
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

  /// Names that every S3-compatible store accepts both in the path and in the host.
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

extension TextForm where Value == ListenAddress {
  static var listenAddress: Self {
    Self(
      noun: "an address such as 127.0.0.1:8080, [::1]:8080, :8080 or unix:/run/larder.sock",
      parse: { text, folder throws(ValueRefusal) in
        try ListenAddress(parsing: text, in: folder)
      },
      print: \.description)
  }
}

extension TextForm where Value == ServiceURL {
  static func url(_ schemes: String...) -> Self {
    Self(
      noun: "a URL such as \(schemes.last ?? "https")://api.example.com/graphql",
      parse: { text, _ throws(ValueRefusal) in
        try withholdingPassword(in: text) { () throws(ValueRefusal) in
          try ServiceURL(parsing: text, schemes: schemes)
        }
      },
      print: \.text)
  }
}

extension TextForm where Value == ProxyPeers {
  static var proxyPeers: Self {
    Self(
      noun: "a block of addresses such as 10.0.0.0/8 or fd00::/8, or unix",
      parse: { text, _ throws(ValueRefusal) in try ProxyPeers(parsing: text) },
      print: \.description)
  }
}

extension TextForm where Value == WebOrigin {
  static var origin: Self {
    Self(
      noun: "an origin such as https://app.example.com, or *",
      parse: { text, _ throws(ValueRefusal) in
        try withholdingPassword(in: text) { () throws(ValueRefusal) in
          try WebOrigin(parsing: text)
        }
      },
      print: \.description)
  }
}

/// Hides the value in a refusal if the address can contain a password.
private func withholdingPassword<Value>(
  in text: String, _ parse: () throws(ValueRefusal) -> Value
) throws(ValueRefusal) -> Value {
  do throws(ValueRefusal) {
    return try parse()
  } catch {
    throw ValueRefusal(error.reason, hidesValue: text.contains("@"))
  }
}

extension TextForm where Value == DateFormat {
  static var dateFormat: Self {
    Self(
      noun: "iso8601, seconds, milliseconds or a pattern such as dd.MM.yyyy HH:mm",
      parse: { text, _ throws(ValueRefusal) in
        guard let format = DateFormat(text) else { throw ValueRefusal() }
        return format
      },
      print: \.name)
  }
}
