/// What stands in a refusal of the server's own.
package struct RefusalContent: Sendable, Equatable {
  package let mediaType: String
  package let bytes: [UInt8]

  package init(mediaType: String, bytes: [UInt8]) {
    self.mediaType = mediaType
    self.bytes = bytes
  }
}
