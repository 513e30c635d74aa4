package import LosslessJSON

/// A notification that somebody asks for, read and checked.
package struct NotificationRequest: Sendable {
  package let chatID: String
  /// At least one, none twice.
  package let userIDs: [String]
  package let text: String
  package let heading: String?
  /// What the app is given beside ``chatID``.
  package let data: [JSONMember]
  /// One text for every spelling of the same request.
  package let canonicalText: String

  package init(
    chatID: String, userIDs: [String], text: String, heading: String?, data: [JSONMember],
    canonicalText: String
  ) {
    self.chatID = chatID
    self.userIDs = userIDs
    self.text = text
    self.heading = heading
    self.data = data
    self.canonicalText = canonicalText
  }
}
