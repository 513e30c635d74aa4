import Cryptography
import LosslessJSON
import Model

/// The forms of one operation's request body, each up to the value of `variables`.
struct RequestOpenings: Sendable {
  /// With the document's text.
  let text: [UInt8]
  /// With its hash instead.
  let hash: [UInt8]
  /// With both, for an upstream that does not know the hash.
  let both: [UInt8]

  init(name: String, document: String) {
    let digest = Hexadecimal.encode(SHA256.hash(data: Array(document.utf8)))
    func opening(text: Bool, hash: Bool) -> [UInt8] {
      var writer = JSONWriter()
      writer.beginObject()
      if text {
        writer.name("query")
        writer.string(document)
      }
      writer.name("operationName")
      writer.string(name)
      if hash {
        writer.name("extensions")
        writer.value(["persistedQuery": ["version": 1, "sha256Hash": .string(digest)]])
      }
      writer.name("variables")
      return writer.bytes
    }
    text = opening(text: true, hash: false)
    hash = opening(text: false, hash: true)
    both = opening(text: true, hash: true)
  }
}
