import HTTPWire
import LosslessJSON
import Model

@testable import Accounts
@testable import Endpoints
@testable import HTTPClient
@testable import S3FileStore

/// Values of fields that single endpoints and clients parse: parsing terminates for any text, and a parsed
/// value is unchanged after it was written and parsed again.
enum HeadValueTarget {
  private static let now = HTTPDate(secondsSince1970: 1_790_000_000)

  static func run(_ input: UnsafeRawBufferPointer) {
    let text = String(decoding: input, as: UTF8.self)
    waits(text)
    idempotencyKey(text)
    disposition(text)
    tokens(text)
    contentRange(text)
    listToken(text)
    Finding.require(EncodedWord.decode(EncodedWord.encode(text)) == text, "a word changes: \(text)")
    if let bytes = Base64.decode(text) {
      for algorithm in ContentDigest.Algorithm.allCases {
        let digest = ContentDigest(algorithm, bytes)
        Finding.require(digest?.bytes ?? bytes == bytes, "a digest changes")
      }
    }
  }

  /// Adds them to a moment, as their callers do.
  private static func waits(_ text: String) {
    let moment = Timestamp(milliseconds: now.secondsSince1970 * 1000)
    if let wait = RetryAfter.wait(text, now: now) {
      Finding.require(moment.advanced(by: wait) >= moment, "a wait into the past: \(wait)")
      Finding.require((wait.milliseconds + 999) / 1000 <= 1 << 31, "an endless wait: \(wait)")
    }
    if let seconds = KeepAliveField.timeout(in: text) {
      Finding.require(Duration.seconds(max(0, seconds - 1)) >= .zero, "a negative timeout")
    }
    if let date = HTTPDate(isoText: text) {
      Finding.require(HTTPDate(isoText: date.isoText) == date, "a date changes: \(date.isoText)")
    }
  }

  private static func idempotencyKey(_ text: String) {
    guard let key = try? IdempotencyKey.read(text) else { return }
    Finding.require((1...255).contains(key.utf8.count), "a key of \(key.utf8.count) bytes")
    let escaped = key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    Finding.require(
      (try? IdempotencyKey.read("\"\(escaped)\"")) == key, "a key changes: \(key)")
  }

  private static func disposition(_ text: String) {
    guard let key = ObjectKey(text.isEmpty ? "x" : text) else { return }
    for type in ["text/html", "image/png", text] {
      let metadata = ObjectMetadata(
        key: key, size: 1, modified: Timestamp(milliseconds: 0), tag: "x",
        attributes: ObjectAttributes(contentType: type, contentDisposition: text))
      let value = ContentDisposition.value(for: metadata)
      let isShown = ContentDisposition.isShown(type)
      Finding.require(
        isShown || value?.lowercased().hasPrefix("attachment") == true, "shown inline: \(type)")
    }
  }

  private static func tokens(_ text: String) {
    guard let token = CompactToken(text) else { return }
    Finding.require(
      token.signedText.count <= text.utf8.count, "more bytes signed than the text has")
    guard let expiry = TokenExpiry.stated(by: text) else { return }
    Finding.require(
      expiry.advanced(by: .seconds(60)) > expiry, "an expiry at the end of time: \(expiry)")
  }

  private static func contentRange(_ text: String) {
    guard let range = ContentRange(text) else { return }
    Finding.require(
      0 <= range.first && range.first <= range.last && range.last < range.size, "\(range)")
    Finding.require((range.first..<range.last + 1).count <= range.size, "\(range)")
  }

  private static func listToken(_ text: String) {
    guard let token = ListTokenText.decode(text) else { return }
    Finding.require(ListTokenText.encode(token) == text, "a token has two texts: \(text)")
  }
}
