import HTTPWire

/// The coding to be taken off a request's content (RFC 9110 8.4.1).
enum ContentDecoding: Sendable, Equatable {
  case identity
  case gzip
  case deflate

  /// What is said where another coding came: the value of `Accept-Encoding` in a 415
  /// (RFC 9110 15.5.16).
  static let accepted = "gzip, deflate"

  /// Nil for any other coding, also for two, one in the other.
  init?(_ fields: FieldSection) {
    guard let value = fields.joined("content-encoding") else {
      self = .identity
      return
    }
    let names = value.split(separator: UInt8(ascii: ",")).map(\.trimmingBlanks).filter {
      !$0.isEmpty && !$0.equalsIgnoringCase("identity")
    }
    guard let name = names.first else {
      self = .identity
      return
    }
    guard names.count == 1 else { return nil }
    if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
      self = .gzip
    } else if name.equalsIgnoringCase("deflate") {
      self = .deflate
    } else {
      return nil
    }
  }
}
