/// How a change asks to be sent; the raw value is the API's.
package enum MutationMode: String, Hashable, Sendable, CaseIterable {
  /// As soon as upstream can be reached; of several alike only the latest goes.
  case lazy
  /// Every change, in one total order.
  case steady
  /// Now, ahead of everything queued; the caller waits for the answer.
  case force
}
