/// The differences between texts that a comparison ignores: `[c]`, `[cd]`.
package enum TextFolding: String, Hashable, Sendable, CaseIterable {
  case none = ""
  /// Case, in all scripts.
  case ignoringCase = "[c]"
  /// Case and diacritics.
  case ignoringMarks = "[cd]"

  /// Returns a text in the form in which texts that differ in nothing else are equal.
  package func folded(_ text: String) -> String {
    guard self != .none else { return text }
    var folded = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { append(scalar, to: &folded) }
    return String(folded)
  }

  /// Appends the folded form of one character, which can be none or several.
  package func append(_ scalar: Unicode.Scalar, to text: inout String.UnicodeScalarView) {
    guard self != .none else { return text.append(scalar) }
    for folded in Self.caseFolded(scalar) {
      guard self == .ignoringMarks else {
        text.append(folded)
        continue
      }
      if DiacriticTable.isMark(folded) { continue }
      text.append(DiacriticTable.base(of: folded) ?? folded)
    }
  }

  /// Unicode's full case folding (C and F of CaseFolding.txt) by way of the three case mappings, since
  /// the standard library has no folding: `ß`, `ẞ` and `SS` are equal, `ς` and `σ` too. The Turkish
  /// dotless `ı` stays.
  private static func caseFolded(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
    if scalar.value < 0x80 {
      let isUpper = (0x41...0x5A).contains(scalar.value)
      return String.UnicodeScalarView(
        CollectionOfOne(isUpper ? Unicode.Scalar(UInt8(scalar.value + 0x20)) : scalar))
    }
    guard scalar.value != dotlessI else {
      return String.UnicodeScalarView(CollectionOfOne(scalar))
    }
    return TextCase.lowercased(TextCase.uppercased(TextCase.lowercased(scalar)))
  }

  private static let dotlessI: UInt32 = 0x131
}

/// Case mappings of single characters, without the rules for their neighbours: the result for a text is
/// that of its characters.
package enum TextCase {
  /// Returns a text in small letters.
  package static func lowercased(_ text: String) -> String {
    String(lowercased(text.unicodeScalars))
  }

  static func lowercased(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
    scalar.properties.lowercaseMapping.unicodeScalars
  }

  static func lowercased(_ text: String.UnicodeScalarView) -> String.UnicodeScalarView {
    var lower = String.UnicodeScalarView()
    for scalar in text {
      lower.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
    }
    return lower
  }

  fileprivate static func uppercased(
    _ text: String.UnicodeScalarView
  ) -> String.UnicodeScalarView {
    var upper = String.UnicodeScalarView()
    for scalar in text {
      upper.append(contentsOf: scalar.properties.uppercaseMapping.unicodeScalars)
    }
    return upper
  }
}

extension TextFolding {
  /// A number that differs when another version of Unicode folds texts differently: part of each index
  /// over folded texts, so that such an index is made again.
  package static let version: Int64 = {
    // FNV-1a over the folded and the small form of every character that has another one.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ value: UInt32) { hash = (hash ^ UInt64(value)) &* 0x100_0000_01B3 }
    for value in versionedCharacters {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let properties = scalar.properties
      guard properties.changesWhenCaseMapped || DiacriticTable.base(of: scalar) != nil else {
        continue
      }
      add(value)
      var folded = String.UnicodeScalarView()
      TextFolding.ignoringMarks.append(scalar, to: &folded)
      for part in folded { add(part.value) }
      for part in TextCase.lowercased(scalar) { add(part.value) }
    }
    return Int64(hash & 0x7FFF_FFFF)
  }()

  /// All scripts with cases are in the first two planes.
  private static let versionedCharacters: Range<UInt32> = 0x80..<0x2_0000
}
