/// Takes a note of every request. Called on the loop: it must not block.
package protocol AccessLog: Sendable {
  func record(_ entry: AccessLogEntry)
}
