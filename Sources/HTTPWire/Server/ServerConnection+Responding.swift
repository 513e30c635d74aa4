extension ServerConnection {
  /// The next step once a response has been prepared.
  package enum ResponseStep: Sendable, Equatable {
    case send
    /// Read the rest of the unwanted body first, since it is short. Send the response at
    /// ``ServerConnectionEvent/endOfRequest``.
    case waitForBody
    /// The request has been refused in the meantime, and the refusal is the response.
    case discard
  }

  /// The next step once a response has been sent.
  package enum NextStep: Sendable, Equatable {
    case nextRequest
    /// Read and drop content up to ``ServerConnectionEvent/endOfRequest``; then call ``responseEnded()``
    /// again.
    case drain
    /// Close the sending side, and read until the peer closes or a limit is reached.
    case linger
    case close
  }

  /// The next step when the peer has finished sending.
  package enum EndOfInputStep: Sendable, Equatable {
    /// Send the response that is due.
    case finishResponse
    /// Content is missing that will never arrive. Report that to its reader, and still send the
    /// response that is due, since the peer may only have closed its sending side.
    case endContent
    case close
  }

  /// The `Connection` field of a response (RFC 9112 9.3, 9.6).
  package enum ConnectionField: Sendable, Equatable {
    /// No field: the connection stays open, which the client expects.
    case none
    case close
    /// The connection stays open; an HTTP/1.0 client needs the field.
    case keepAlive
  }

  /// The `Connection` field of the response that is due.
  package var connectionField: ConnectionField {
    if !mayPersist { return .close }
    return parser.head.minorVersion >= 1 ? .none : .keepAlive
  }

  /// Returns whether `100 Continue` is due, now that a reader wants the content. True at most once.
  package mutating func takeContinue() -> Bool {
    guard phase == .serving, owesContinue, responsePhase == .open else { return false }
    owesContinue = false
    return true
  }

  /// Notes that a response has been prepared.
  ///
  /// - Parameter isStreamed: whether writing its body can read the request's content.
  package mutating func responseIsReady(isStreamed: Bool) -> ResponseStep {
    guard phase == .serving else { return .discard }
    if !isRequestComplete, !isStreamed {
      if isWorthDraining {
        dropsContent = true
        responsePhase = .waitingForDrain
        return .waitForBody
      }
      mayPersist = false
    } else if owesContinue, !isStreamed {
      mayPersist = false
    }
    responsePhase = .underWay
    return .send
  }

  /// Notes that the response's last byte has been written, or that the content after it has been drained.
  package mutating func responseEnded() -> NextStep {
    if phase == .closed { return .close }
    responsePhase = .done
    if !isRequestComplete {
      if mayPersist, isWorthDraining {
        dropsContent = true
        return .drain
      }
      mayPersist = false
    }
    guard mayPersist, phase == .serving else {
      phase = .lingering
      bytesDropped = 0
      return .linger
    }
    phase = .awaitingHead
    return .nextRequest
  }

  /// Ends draining at its deadline. The response that waited for it can be sent, and the connection
  /// closes.
  package mutating func giveUpDraining() {
    mayPersist = false
    isRequestComplete = true
  }

  /// Closes the connection after the response that is due, or after the next one.
  package mutating func stopPersisting() {
    mayPersist = false
  }

  /// Notes that the peer has closed its sending side. A peer that has disconnected looks the same until
  /// something is written.
  package mutating func endOfInput() -> EndOfInputStep {
    mayPersist = false
    switch phase {
    case .awaitingHead, .lingering, .closed:
      phase = .closed
      return .close
    case .refusing:
      return .finishResponse
    case .serving:
      if isRequestComplete { return .finishResponse }
      isRequestComplete = true
      return .endContent
    }
  }

  /// Notes that the head or the content has not arrived in time.
  package mutating func timedOut() -> ServerConnectionEvent {
    switch phase {
    case .awaitingHead where parser.isInsideHead,
      .serving where !isRequestComplete && responsePhase == .open:
      return refuse(.timedOut)
    case .awaitingHead, .serving, .refusing, .lingering, .closed:
      phase = .closed
      return .close
    }
  }

  /// Whether reading the rest of an unwanted body costs less than closing the connection.
  private var isWorthDraining: Bool {
    guard mayPersist || responsePhase == .open, !owesContinue else { return false }
    guard let remaining = body?.remainingLength else { return true }
    return remaining <= limits.drainBytesMax
  }
}

/// How a response's body is delimited, and whether it has one (RFC 9110 6.4.1, 9112 6.3).
package enum ResponseFraming: Sendable, Hashable {
  /// No content and no framing fields: 1xx, 204 and 304.
  case noContent
  /// Content-Length, in bytes.
  case length(Int)
  case chunked
  /// For HTTP/1.0 clients, which do not support chunks: the body ends with the connection.
  case untilClose

  /// Chooses the framing. `length` is nil if the content's length is unknown.
  package static func choose(
    status: Int, length: Int?, minorVersion: Int
  ) -> ResponseFraming {
    if status < 200 || status == 204 || status == 304 { return .noContent }
    if let length { return .length(length) }
    return minorVersion >= 1 ? .chunked : .untilClose
  }

  /// Appends the field line that states the framing, if there is one.
  package func append(to output: inout [UInt8]) {
    switch self {
    case .noContent, .untilClose: break
    case .length(let length): output.appendField("Content-Length", decimal: length)
    case .chunked: output.append("Transfer-Encoding: chunked\r\n")
    }
  }
}
