/// The value of a `Range` field in bytes (RFC 9110 14.1.2).
package struct ByteRangeSet: Sendable, Equatable {
  /// One range, before the length of the representation is known.
  package enum Spec: Sendable, Equatable {
    /// From one offset to another, both inclusive.
    case closed(Int, Int)
    /// From an offset to the end.
    case from(Int)
    /// The last bytes.
    case suffix(Int)
  }

  /// The result of resolving a set of ranges.
  package enum Outcome: Sendable, Equatable {
    /// The field counts as absent: respond with 200 and the whole representation.
    case ignore
    /// One part: 206.
    case part(Range<Int>)
    /// Several parts, in the requested order: 206 as `multipart/byteranges`.
    case parts([Range<Int>])
    /// No range overlaps the representation: 416.
    case unsatisfiable
  }

  package let specs: [Spec]

  /// Ranges in one field. More are a way to load the server, not to read a file.
  package static let specsMax = 64
  /// The default limit on the ranges of one response.
  package static let partsMax = 16
  /// The default limit on ranges that overlap an earlier one, and on ranges that start before the
  /// previous one (RFC 9110 14.2 names both as signs of an attack).
  package static let disorderMax = 2

  /// Parses a value; `nil` for another unit or a malformed list: the field then counts as absent.
  package init?(_ text: String) {
    self.init(ArraySlice(Array(text.utf8)))
  }

  /// Parses a value given as bytes.
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
  /// - Parameters:
  ///   - partsMax: the limit on ranges; with more, the whole representation is sent.
  ///   - disorderMax: the limit on ranges that overlap an earlier one, and on ranges out of order.
  package func resolve(
    length: Int, partsMax: Int = partsMax, disorderMax: Int = disorderMax
  ) -> Outcome {
    guard specs.count <= partsMax else { return .ignore }
    let parts = specs.compactMap { $0.resolve(length: length) }
    guard parts.count > 1 else { return parts.first.map(Outcome.part) ?? .unsatisfiable }
    guard Self.isOrderly(parts, disorderMax: disorderMax) else { return .ignore }
    // The whole representation is fewer bytes, each sent once.
    guard Self.isShorter(parts, than: length) else { return .ignore }
    return .parts(parts)
  }

  /// Returns whether the parts together are shorter than `length`. Their sum itself could overflow.
  private static func isShorter(_ parts: [Range<Int>], than length: Int) -> Bool {
    var left = length
    for part in parts {
      guard part.count < left else { return false }
      left -= part.count
    }
    return true
  }

  private static func isOrderly(_ parts: [Range<Int>], disorderMax: Int) -> Bool {
    var overlapping = 0
    var descending = 0
    for (index, part) in parts.enumerated().dropFirst() {
      if parts[..<index].contains(where: part.overlaps) { overlapping += 1 }
      if part.lowerBound < parts[index - 1].lowerBound { descending += 1 }
    }
    return overlapping <= disorderMax && descending <= disorderMax
  }
}

extension ByteRangeSet.Spec {
  /// Returns the range within a representation of a length; nil if it is empty.
  package func resolve(length: Int) -> Range<Int>? {
    switch self {
    case .closed(let first, let last):
      first < length ? first..<min(last, length - 1) + 1 : nil
    case .from(let first):
      first < length ? first..<length : nil
    case .suffix(let count):
      count > 0 && length > 0 ? max(0, length - count)..<length : nil
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

  /// Parses digits; a number that overflows counts as past the end of any file.
  private static func number(_ text: ArraySlice<UInt8>) -> Int? {
    guard !text.isEmpty, text.allSatisfy(\.isDigit) else { return nil }
    return Int(text.text) ?? Int.max - 1
  }
}
