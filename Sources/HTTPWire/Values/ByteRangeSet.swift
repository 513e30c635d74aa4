/// The value of a `Range` field in bytes (RFC 9110 14.1.2).
package struct ByteRangeSet: Sendable, Equatable {
  /// One range, before the length of what it is a part of is known.
  package enum Spec: Sendable, Equatable {
    /// From an offset to another, both included.
    case closed(Int, Int)
    /// From an offset to the end.
    case from(Int)
    /// The last bytes.
    case suffix(Int)
  }

  /// What comes of a set of ranges.
  package enum Outcome: Sendable, Equatable {
    /// The field counts as absent: answer 200 in full.
    case ignore
    /// One part: 206.
    case part(Range<Int>)
    /// Nothing of it exists: 416.
    case unsatisfiable
  }

  package let specs: [Spec]

  /// Ranges in one field. Asking for more is a way to make a server work, not to read a file.
  package static let specsMax = 16

  /// Reads a value; `nil` if the unit is another, or it is no list of ranges: the field then counts
  /// as absent.
  package init?(_ text: String) {
    self.init(ArraySlice(Array(text.utf8)))
  }

  /// As `init(_:)` of the text.
  package init?(_ bytes: ArraySlice<UInt8>) {
    let value = bytes.trimmingBlanks
    guard value.prefix(6).equalsIgnoringCase("bytes=") else { return nil }
    var specs: [Spec] = []
    for element in value.dropFirst(6).split(separator: ASCII.comma) {
      let element = element.trimmingBlanks
      if element.isEmpty { continue }
      guard specs.count < Self.specsMax, let spec = Spec(element) else { return nil }
      specs.append(spec)
    }
    guard !specs.isEmpty else { return nil }
    self.specs = specs
  }

  /// Resolves the set against a length.
  ///
  /// Several parts are answered in full: multipart answers cost more than they save, and RFC 9110
  /// 14.2 leaves it to the server.
  package func resolve(length: Int) -> Outcome {
    guard specs.count == 1 else { return .ignore }
    switch specs[0] {
    case .closed(let first, let last):
      guard first < length else { return .unsatisfiable }
      return .part(first..<min(last, length - 1) + 1)
    case .from(let first):
      return first < length ? .part(first..<length) : .unsatisfiable
    case .suffix(let count):
      guard count > 0, length > 0 else { return .unsatisfiable }
      return .part(max(0, length - count)..<length)
    }
  }
}

extension ByteRangeSet.Spec {
  fileprivate init?(_ text: ArraySlice<UInt8>) {
    let sides = text.split(
      separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
    guard sides.count == 2 else { return nil }
    let first = Self.number(sides[0])
    let last = Self.number(sides[1])
    switch (sides[0].isEmpty, sides[1].isEmpty) {
    case (true, true):
      return nil
    case (true, false):
      guard let last else { return nil }
      self = .suffix(last)
    case (false, true):
      guard let first else { return nil }
      self = .from(first)
    case (false, false):
      guard let first, let last, first <= last else { return nil }
      self = .closed(first, last)
    }
  }

  /// Digits; what no machine holds is the end of any file.
  private static func number(_ text: ArraySlice<UInt8>) -> Int? {
    guard !text.isEmpty, text.allSatisfy(\.isDigit) else { return nil }
    return Int(text.text) ?? Int.max - 1
  }
}
