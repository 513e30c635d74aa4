package import LosslessJSON

/// What a notification says, the same for everybody who gets it.
package struct PushMessage: Hashable, Sendable {
  /// The member of ``data`` that tells the app which conversation to open.
  package static let chatIDMember = "chatId"

  package let text: String
  package let heading: String?
  /// An object that the app is given beside the text.
  package let data: JSONValue

  /// - Parameters:
  ///   - chatID: wins over a member of the same name; nil where there is no conversation.
  ///   - data: the other members.
  package init(text: String, heading: String? = nil, chatID: String?, data: [JSONMember] = []) {
    self.text = text
    self.heading = heading
    let own = chatID.map { [JSONMember(Self.chatIDMember, .string($0))] } ?? []
    self.data = .object(own + data.filter { own.isEmpty || $0.name != Self.chatIDMember })
  }

  package var chatID: String? { data[Self.chatIDMember]?.string }
}

/// How it is kept.
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
