/// A rule that sends a notification when an entity changes:
/// `{on: Message insert, to: recipientIds, text: "{senderName}: …"}`.
package struct PushRule: Hashable, Sendable {
  package enum Event: String, CaseIterable, Sendable {
    case insert, update
  }

  package let type: String
  package let event: Event
  /// The field with the user ids: one id, a list of ids, or references, whose keys are the ids.
  package let recipients: String
  /// The field with the conversation's id; nil if there is none.
  package let chat: String?
  package let text: PushTemplate
  package let heading: PushTemplate?

  package init(
    type: String, event: Event, recipients: String, chat: String? = nil, text: PushTemplate,
    heading: PushTemplate? = nil
  ) {
    self.type = type
    self.event = event
    self.recipients = recipients
    self.chat = chat
    self.text = text
    self.heading = heading
  }

  /// The stored name of the rule. A rule with another text is the same rule.
  package var name: String { "\(type) \(event.rawValue) \(recipients)" }
}

/// A text with placeholders for an entity's fields: `{senderName} wrote to you`. Double braces
/// stand for single ones.
package struct PushTemplate: Hashable, Sendable {
  package enum Fault: Error, Hashable, Sendable {
    /// An unmatched brace, or braces without a field name.
    case loneBrace
  }

  private enum Part: Hashable, Sendable {
    case text(String)
    case field(String)
  }

  /// The text as configured.
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

  /// The placeholders' field names, in order.
  package var fields: [String] {
    parts.compactMap { if case .field(let name) = $0 { name } else { nil } }
  }

  /// - Parameters:
  ///   - bytesMax: the limit; a longer text is cut between characters.
  ///   - value: returns a field's text; nil leaves its placeholder empty.
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
