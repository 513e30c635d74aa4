import LosslessJSON
import Model

extension JSONValue {
  /// Seconds since 1970, with a fraction or without; nil where there are none, or too many for any
  /// clock.
  func moment(_ name: String) -> Timestamp? {
    guard let seconds = self[name]?.number?.double, (-1e12...1e12).contains(seconds)
    else { return nil }
    return Timestamp(milliseconds: Int64(seconds * 1000))
  }
}
