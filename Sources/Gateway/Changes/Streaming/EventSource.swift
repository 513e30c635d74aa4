package import Model

/// What a stream of server-sent events is written from: one client's changes, or its live query.
///
/// One task opens it, reads it and lets go of it: the one that writes to the client.
package protocol EventSource {
  /// What is to be written next, once there is something; nil where the stream ends.
  func next() async throws(Failure) -> [UInt8]?
}
