import GraphQL

/// How one kind of value is written: checked and turned into its type, and back again.
struct TextForm<Value: Sendable>: Sendable {
  /// Completes "must be …".
  let noun: String
  var isSecret = false
  /// - Parameter folder: what a relative path starts from.
  let parse: @Sendable (_ text: String, _ folder: String) throws(ValueRefusal) -> Value
  /// What ``parse`` would take; the mask for a secret.
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
  /// - Parameter lengthMin: in characters; what is shorter can be guessed.
  static func secret(_ noun: String, lengthMin: Int = 1) -> Self {
    Self(
      noun: lengthMin > 1 ? "\(noun) of at least \(lengthMin) characters" : noun,
      isSecret: true,
      parse: { text, _ throws(ValueRefusal) in
        // It goes into a header field, where a line break would begin another one.
        guard text.count >= lengthMin, !text.unicodeScalars.contains(where: \.isControl) else {
          throw ValueRefusal()
        }
        return Secret(text)
      },
      print: \.description)
  }
}
