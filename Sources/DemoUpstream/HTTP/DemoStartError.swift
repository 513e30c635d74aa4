package import Transport

/// Why a demo server does not serve.
package enum DemoStartError: Error, Sendable {
  /// The system gives no event loop.
  case loop(SystemError)
  /// The address cannot be had.
  case listen(ListenError)
}

extension DemoStartError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .loop(let error): "no event loop: \(error)"
    case .listen(let error): error.description
    }
  }
}
