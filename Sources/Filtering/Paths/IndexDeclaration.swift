package import Model

/// An entry of `types.<Type>.index`: a column or a key path, with the form in which texts are compared:
/// `year`, `maker.lastName`, `title[cd]`, `lower(title)`.
package struct IndexDeclaration: Hashable, Sendable {
  /// The names of the path.
  package let names: [String]
  /// Nil for the values themselves.
  package let form: EntityType.TextIndex.Form?

  /// Nil for any other text.
  package init?(_ text: String) {
    var path = text[...]
    var form: EntityType.TextIndex.Form?
    if path.hasPrefix("lower("), path.hasSuffix(")") {
      path = path.dropFirst("lower(".count).dropLast()
      form = .lower
    }
    for folding in [EntityType.TextIndex.Form.withoutMarks, .withoutCase]
    where form == nil && path.hasSuffix(folding.rawValue) {
      path = path.dropLast(folding.rawValue.count)
      form = folding
    }
    names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    self.form = form
    guard names.count <= EntityPath.hopsMax + 1, names.allSatisfy(Self.isName) else { return nil }
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return text.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
      default: false
      }
    }
  }
}
