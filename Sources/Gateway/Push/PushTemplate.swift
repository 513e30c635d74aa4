/// A text with places for an entity's fields: `{senderName} wrote to you`. Two braces stand for one.
package struct PushTemplate: Hashable, Sendable {
  package enum Fault: Error, Hashable, Sendable {
    /// A brace that opens or closes no place.
    case loneBrace
  }

  private enum Part: Hashable, Sendable {
    case text(String)
    case field(String)
  }

  /// As it was written.
  package let source: String
  private let parts: [Part]

  package init(_ source: String) throws(Fault) {
    self.source = source
    var parts: [Part] = []
    var text = ""
    var rest = Substring(source)
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        text.append(character)
        rest.removeFirst()
      case "{":
        guard let end = rest.firstIndex(of: "}"), end > rest.startIndex,
          !rest[..<end].contains("{")
        else { throw .loneBrace }
        if !text.isEmpty { parts.append(.text(text)) }
        text = ""
        parts.append(.field(String(rest[..<end])))
        rest = rest[rest.index(after: end)...]
      case "}": throw .loneBrace
      default: text.append(character)
      }
    }
    if !text.isEmpty { parts.append(.text(text)) }
    self.parts = parts
  }

  /// The fields that are named, in their order.
  package var fields: [String] {
    parts.compactMap { if case .field(let name) = $0 { name } else { nil } }
  }

  /// - Parameters:
  ///   - bytesMax: beyond which it is cut, between characters.
  ///   - value: a field's text; nil leaves its place empty.
  func text(bytesMax: Int, _ value: (String) -> String?) -> String {
    let whole = parts.map { part in
      switch part {
      case .text(let text): text
      case .field(let name): value(name) ?? ""
      }
    }.joined()
    guard whole.utf8.count > bytesMax else { return whole }
    var bytes = 0
    return String(
      whole.prefix { character in
        bytes += character.utf8.count
        return bytes <= bytesMax
      })
  }
}
