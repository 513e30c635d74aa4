import Cryptography
import Filtering
import Model

@testable import Gateway

/// Cursors and page tokens: any bytes are decoded or refused, with and without the code that authenticates
/// them, and a decoded value is encoded to the same text.
enum TokenTarget {
  private static let cursors = CursorCodec(key: SymmetricKey())
  private static let pages = PageTokenCodec(key: SymmetricKey())
  private static let code = HMAC<SHA256>.code.prefix(12)

  static func run(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    let text = String(decoding: bytes, as: UTF8.self)
    if let decoded = Base64URL.decode(text) {
      Finding.require(Base64URL.encode(decoded) == text, "one value, two texts: \(text)")
    }
    for token in [text, Base64URL.encode(bytes + code)] {
      cursor(token)
      page(token)
    }
  }

  private static func cursor(_ token: String) {
    guard let cursor = cursors.decode(token) else { return }
    // A key that is not UTF-8 is repaired, and so is encoded to another text.
    guard !cursor.lastKey.unicodeScalars.contains("\u{FFFD}") else { return }
    let again = cursors.decode(cursors.encode(cursor))
    Finding.require(again == cursor, "a cursor changes: \(cursor)")
  }

  private static func page(_ token: String) {
    guard let position = try? pages.decode(token, question: "") else { return }
    let texts = position.values.compactMap { value in
      if case .text(let text) = value { text } else { nil }
    }
    guard !(texts + [position.key]).contains(where: { $0.unicodeScalars.contains("\u{FFFD}") })
    else { return }
    Finding.require(
      pages.encode(position, question: "") == token, "a page token changes: \(position)")
  }
}
