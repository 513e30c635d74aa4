import Filtering
import Model

@testable import Storage

/// Searches: any text is parsed to terms or refused, always with the same result, and the text for FTS5 of a
/// term is one string in its language with the term as its value.
enum SearchTextTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let search = read(String(decoding: input, as: UTF8.self)) else { return }
    Finding.require(!search.terms.isEmpty, "no term")
    Finding.require(search.terms.count <= SearchText.termsMax, "\(search.terms.count) terms")
    for term in search.terms {
      let quoted = Quotation.quoted(term.text)
      Finding.require(
        unquoted(Array(quoted.utf8)) == Array(term.text.utf8), "not a string: \(quoted)")
    }
    let again = search.terms.map { Quotation.quoted($0.text) + ($0.isPrefix ? "*" : "") }
    Finding.require(read(again.joined(separator: " ")) == search, "other terms: \(again)")
  }

  private static func read(_ text: String) -> SearchText? { try? SearchText(text) }

  /// The content of a string as FTS5 parses it, byte for byte; nil if the string does not end with the text.
  private static func unquoted(_ bytes: [UInt8]) -> [UInt8]? {
    let mark = UInt8(ascii: "\"")
    guard bytes.count >= 2, bytes.first == mark, bytes.last == mark else { return nil }
    var text: [UInt8] = []
    var index = 1
    while index < bytes.count - 1 {
      if bytes[index] == 0 { return nil }
      if bytes[index] == mark {
        index += 1
        guard index < bytes.count - 1, bytes[index] == mark else { return nil }
      }
      text.append(bytes[index])
      index += 1
    }
    return text
  }
}
