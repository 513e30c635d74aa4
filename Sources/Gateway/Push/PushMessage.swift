package import LosslessJSON

/// The content of a notification, the same for all receivers.
package struct PushMessage: Hashable, Sendable {
  /// The member of ``data`` with the conversation that the app should open.
  package static let chatIDMember = "chatId"

  package let text: String
  package let heading: String?
  /// An object passed to the app with the text.
  package let data: JSONValue

  /// - Parameters:
  ///   - chatID: replaces a member of the same name; nil without a conversation.
  ///   - data: the other members.
  package init(text: String, heading: String? = nil, chatID: String?, data: [JSONMember] = []) {
    self.text = text
    self.heading = heading
    let own = chatID.map { [JSONMember(Self.chatIDMember, .string($0))] } ?? []
    self.data = .object(own + data.filter { own.isEmpty || $0.name != Self.chatIDMember })
  }

  package var chatID: String? { data[Self.chatIDMember]?.string }
}

/// The stored form.
extension PushMessage {
  package var json: JSONValue {
    var json: JSONValue = ["text": .string(text), "data": data]
    if let heading { json["heading"] = .string(heading) }
    return json
  }

  package init?(json: JSONValue) {
    guard let text = json["text"]?.string, let data = json["data"], data.members != nil else {
      return nil
    }
    self.text = text
    heading = json["heading"]?.string
    self.data = data
  }
}

/// The outcome of a notification for one user id.
enum PushOutcome: String, Sendable, CaseIterable {
  case queued
  /// The sender accepted it.
  case sent
  /// The sender knows no device of this user.
  case invalid
  case failed
}
