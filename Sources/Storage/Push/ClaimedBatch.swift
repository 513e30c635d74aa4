package import Model

/// A batch that was taken for sending.
package struct ClaimedBatch: Sendable {
  package let id: Int64
  /// Which claim of the batch this is: a settlement counts for the last one alone.
  package let claim: Int64
  package let key: String
  package let message: [UInt8]
  /// As a JSON array of texts.
  package let userIDs: [UInt8]
  /// Those that counted, before this one.
  package let attempts: Int
  /// Those of them that failed while others succeeded.
  package let strikes: Int
  package let expires: Timestamp
}
