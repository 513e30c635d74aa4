/// A notification that changes send: `{on: Message insert, to: recipientIds, text: "{senderName}: …"}`.
package struct PushRule: Hashable, Sendable {
  package enum Event: String, CaseIterable, Sendable {
    case insert, update
  }

  package let type: String
  package let event: Event
  /// The field with the user ids: one, a list of them, or references, whose keys they are.
  package let recipients: String
  /// The field with the id of the conversation; nil where there is none.
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

  /// What the rule is remembered by. Another text does not make it another rule.
  package var name: String { "\(type) \(event.rawValue) \(recipients)" }
}
