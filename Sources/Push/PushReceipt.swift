/// What a sender said of a batch that it took.
package struct PushReceipt: Hashable, Sendable {
  /// Its own name of the batch; nil where it has none.
  package let remoteID: String?
  /// Ids that it knows no device of.
  package let invalidIDs: [String]
  /// It knows no device of any of them.
  package let reachedNobody: Bool

  package init(remoteID: String?, invalidIDs: [String] = [], reachedNobody: Bool = false) {
    self.remoteID = remoteID
    self.invalidIDs = invalidIDs
    self.reachedNobody = reachedNobody
  }
}
