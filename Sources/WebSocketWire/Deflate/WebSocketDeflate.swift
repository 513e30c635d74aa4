/// The agreed parameters of permessage-deflate (RFC 7692 section 7.1).
package struct WebSocketDeflate: Sendable, Equatable {
  /// The parameters of one direction.
  struct Direction: Equatable {
    /// Whether messages can refer to earlier ones.
    var keepsContext: Bool
    /// The base-two logarithm of the window, 8 to 15.
    var windowBits: Int
  }

  static let windowBitsRange = 8...15

  package var serverKeepsContext = true
  package var clientKeepsContext = true
  var serverWindowBits = 15
  var clientWindowBits = 15

  package init() {}

  func outgoing(at role: WebSocketRole) -> Direction {
    role == .server ? fromServer : fromClient
  }

  func incoming(at role: WebSocketRole) -> Direction {
    role == .server ? fromClient : fromServer
  }

  private var fromServer: Direction {
    Direction(keepsContext: serverKeepsContext, windowBits: serverWindowBits)
  }

  private var fromClient: Direction {
    Direction(keepsContext: clientKeepsContext, windowBits: clientWindowBits)
  }
}
