package import HTTPClient
import WebSocketWire

extension HTTPClient: WebSocketOpening {
  package func open(
    _ offer: WebSocketOffer
  ) async throws(UpstreamFailure) -> any SubscriptionSocket {
    var limits = WebSocketLimits.client
    limits.messageBytesMax = offer.messageBytesMax
    let request = WebSocketRequest(
      url: offer.url, fields: offer.fields, subprotocols: offer.subprotocols, limits: limits,
      handshakeTimeout: offer.timeout)
    do throws(HTTPClientError) {
      return try await ClientSubscriptionSocket(openWebSocket(request))
    } catch {
      throw UpstreamFailure(error, bytesMax: offer.messageBytesMax)
    }
  }
}

/// A WebSocket of the HTTP client, with text messages alone: a server that sends a binary one breaks each of
/// the protocols for subscriptions.
private struct ClientSubscriptionSocket: SubscriptionSocket {
  private let connection: WebSocketClientConnection

  init(_ connection: WebSocketClientConnection) {
    self.connection = connection
  }

  var subprotocol: String? { connection.subprotocol }

  func send(_ text: [UInt8]) async throws(SocketEnd) {
    do throws(WebSocketClose) {
      try await connection.send(.text(text))
    } catch {
      throw SocketEnd(code: error.code)
    }
  }

  func next() async throws(SocketEnd) -> [UInt8] {
    do throws(WebSocketClose) {
      if case .text(let text) = try await connection.next() { return text }
    } catch {
      throw SocketEnd(code: error.code)
    }
    connection.close(
      code: WebSocketClose.unsupportedData, reason: "only text messages are expected")
    throw SocketEnd(code: WebSocketClose.unsupportedData)
  }

  func close(code: UInt16, reason: String) {
    connection.close(code: code, reason: reason)
  }
}
