package import LosslessJSON

/// A validated request to send a notification.
package struct NotificationRequest: Sendable {
  package let chatID: String
  /// At least one, without duplicates.
  package let userIDs: [String]
  package let text: String
  package let heading: String?
  /// Data for the app in addition to ``chatID``.
  package let data: [JSONMember]
  /// The canonical text of the request, equal for equal requests.
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

/// The response to a submitted notification.
package struct NotificationStatus: Sendable {
  package let id: String
  package let body: [UInt8]
  /// Whether the notification was accepted before, under the same key.
  package let isReplay: Bool
}

/// Limits of one notification, within those of the push services.
package enum NotificationLimits {
  /// Ten batches of the senders' size.
  package static let userIDsMax = 20_000
  package static let userIDBytesMax = 255
  package static let chatIDBytesMax = 255
  /// Push services carry about 4 KB in all.
  package static let textBytesMax = 2_000
  package static let headingBytesMax = 255
  /// The whole object, `chatId` included; OneSignal's limit.
  package static let dataBytesMax = 2_048

  package static func isUserID(_ text: String) -> Bool { isName(text, bytesMax: userIDBytesMax) }

  /// Whether the text has an allowed length and no control characters, which belong neither in
  /// names nor in logs.
  package static func isName(_ text: String, bytesMax: Int) -> Bool {
    1...bytesMax ~= text.utf8.count && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }
}
