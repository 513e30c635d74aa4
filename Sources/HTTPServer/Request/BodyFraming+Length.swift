import HTTPWire

extension BodyFraming {
  /// Bytes of content, where the framing tells.
  var length: Int? {
    switch self {
    case .none: 0
    case .length(let length): length
    case .chunked, .untilClose: nil
    }
  }
}
