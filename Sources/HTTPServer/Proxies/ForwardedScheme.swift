/// The scheme that a proxy tells.
enum ForwardedScheme {
  /// Nil for any but `http` and `https`.
  static func isSecure(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "https": true
    case "http": false
    default: nil
    }
  }
}
