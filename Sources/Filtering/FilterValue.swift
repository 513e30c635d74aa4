import Model

/// A value that a column is compared with, in the storage class of the column's kind.
package enum FilterValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
}

/// Texts are compared by their bytes, as in SQLite.
extension FilterValue {
  package static func == (left: FilterValue, right: FilterValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.text(let left), .text(let right)): left.equalsExactly(right)
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let number): hasher.combine(number)
    case .real(let number): hasher.combine(number)
    case .text(let text): text.hashExactly(into: &hasher)
    }
  }
}

extension FilterValue {
  /// SQLite's order of values: NULL, then numbers, then texts byte by byte.
  package func isBefore(_ other: FilterValue) -> Bool {
    switch (self, other) {
    case (.null, .null): false
    case (.null, _): true
    case (_, .null): false
    case (.integer(let left), .integer(let right)): left < right
    case (.integer(let left), .real(let right)): Double(left) < right
    case (.real(let left), .integer(let right)): left < Double(right)
    case (.real(let left), .real(let right)): left < right
    case (.text(let left), .text(let right)): left.precedesExactly(right)
    case (.text, _): false
    case (_, .text): true
    }
  }
}

extension EntityType.Column {
  /// Parses the text of a literal or a parameter; nil if the column cannot hold it.
  func value(of text: String) -> FilterValue? {
    guard let dates else { return kind.value(of: text) }
    return dates.stored(text: text).map { .text($0) }
  }

  /// The kind of its values, for messages.
  var phrase: String { dates?.phrase ?? kind.phrase }
}

extension EntityType.Column.Kind {
  /// Parses the text of a literal or a parameter as a value of this kind; nil if it is none.
  ///
  /// An integer beyond 64 bits becomes a floating-point number, as in SQLite.
  func value(of text: String) -> FilterValue? {
    switch self {
    case .text, .reference:
      return .text(text)
    case .boolean:
      switch text.lowercased() {
      case "true", "1": return .integer(1)
      case "false", "0": return .integer(0)
      default: return nil
      }
    case .integer, .real:
      guard FilterNumber.isNumber(text) else { return nil }
      if self == .integer, let whole = Int64(text) { return .integer(whole) }
      guard let value = Double(text), value.isFinite else { return nil }
      return .real(value)
    }
  }

  /// The kind of values, for messages.
  var phrase: String {
    switch self {
    case .integer: "a whole number"
    case .real: "a number"
    case .boolean: "true or false"
    case .text: "a string"
    case .reference: "the id of an entity"
    }
  }
}

enum FilterNumber {
  /// Returns whether a text is a number such as `-12`, `1.5`, `.5` or `2e10`; no other spelling that
  /// Swift or SQLite would accept.
  static func isNumber(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    return length(of: rest) == rest.count && !rest.isEmpty
  }

  /// Returns the length in bytes of the unsigned number at the start of a text; 0 if there is none.
  static func length(of text: ArraySlice<UInt8>) -> Int {
    var rest = text
    func digits() -> Int {
      let run = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
      rest = rest.dropFirst(run)
      return run
    }
    var mantissa = digits()
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      mantissa += digits()
    }
    guard mantissa > 0 else { return 0 }
    if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
      let before = rest
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") {
        rest = rest.dropFirst()
      }
      if digits() == 0 { rest = before }
    }
    return text.count - rest.count
  }
}
