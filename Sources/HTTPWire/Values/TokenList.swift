/// A comma-separated list of tokens, such as `Connection`, `Vary` or `Allow` (RFC 9110 5.6.1).
package struct TokenList: Sendable, Hashable {
  /// The tokens as they were written, empty elements left out.
  package let tokens: [String]

  package init(_ text: String) {
    tokens = text.split(separator: ",").compactMap { element in
      let token = ArraySlice(Array(element.utf8)).trimmingBlanks
      return token.isEmpty ? nil : token.text
    }
  }

  /// Whether a token is in the list, without regard to the case of ASCII letters.
  package func contains(_ token: String) -> Bool {
    tokens.contains { $0.utf8.count == token.utf8.count && $0.lowercased() == token.lowercased() }
  }
}
