/// Bounds of one notification, inside those of the services that bring it.
package enum NotificationLimits {
  /// Ten batches of the size that senders take.
  package static let userIDsMax = 20_000
  package static let userIDBytesMax = 255
  package static let chatIDBytesMax = 255
  /// Push services carry some 4 KB in all.
  package static let textBytesMax = 2_000
  package static let headingBytesMax = 255
  /// The whole object, `chatId` included: OneSignal takes no more.
  package static let dataBytesMax = 2_048

  package static func isUserID(_ text: String) -> Bool { isName(text, bytesMax: userIDBytesMax) }

  /// Without control characters, which belong neither into names nor into logs.
  package static func isName(_ text: String, bytesMax: Int) -> Bool {
    1...bytesMax ~= text.utf8.count && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }
}
