/// What is answered to a notification that was handed over.
package struct NotificationStatus: Sendable {
  package let id: String
  package let body: [UInt8]
  /// It had been taken before, under the same key.
  package let isReplay: Bool
}
