/// As many receivers of one notification as a sender takes at once.
package struct PushBatch: Sendable {
  /// A UUID, the same at each attempt: by it the sender knows a repetition.
  package let key: String
  package let message: PushMessage
  package let userIDs: [String]

  package init(key: String, message: PushMessage, userIDs: [String]) {
    self.key = key
    self.message = message
    self.userIDs = userIDs
  }
}
