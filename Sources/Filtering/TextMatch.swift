/// A text that another one must contain, begin or end with.
package struct TextMatch: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case contains
    case beginsWith = "beginswith"
    case endsWith = "endswith"
  }

  package let kind: Kind
  package let folding: TextFolding
  /// Folded.
  package let text: String

  package init(_ kind: Kind, _ folding: TextFolding, _ text: String) {
    self.kind = kind
    self.folding = folding
    self.text = folding.folded(text)
  }

  /// Texts are compared by their bytes, as in SQLite.
  package static func == (left: TextMatch, right: TextMatch) -> Bool {
    left.kind == right.kind && left.folding == right.folding
      && FilterValue.text(left.text) == .text(right.text)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(folding)
    hasher.combine(FilterValue.text(text))
  }

  /// The first text, in the order of bytes, after all texts that begin with a prefix; nil if there is
  /// none.
  package static func end(ofPrefix prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      guard last.value < 0x10_FFFF else { continue }
      // The order of UTF-8 is that of code points; there are none between D7FF and E000.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { return nil }
      scalars.append(scalar)
      var end = String.UnicodeScalarView()
      end.append(contentsOf: scalars)
      return String(end)
    }
    return nil
  }
}
