/// Why a text is not the value it should be. The reader adds the setting's name, what it must be
/// and where it stands.
struct ValueRefusal: Error {
  /// A clause that follows the general sentence; nil when that sentence says it all.
  let reason: String?
  /// The text may carry a secret where none belongs, so it is not repeated.
  let hidesValue: Bool

  init(_ reason: String? = nil, hidesValue: Bool = false) {
    self.reason = reason
    self.hidesValue = hidesValue
  }
}
