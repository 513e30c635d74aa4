extension ServerConnection {
  /// What to do with an answer that has been made.
  package enum ResponseStep: Sendable, Equatable {
    case send
    /// Read on first: the body nobody wanted is short, and its end is near. The answer is due at
    /// ``ServerConnectionEvent/endOfRequest``.
    case waitForBody
    /// The request was refused meanwhile, and that is the answer.
    case discard
  }

  /// What to do once an answer is out.
  package enum NextStep: Sendable, Equatable {
    case nextRequest
    /// Read on, dropping content, up to ``ServerConnectionEvent/endOfRequest``; then ask again.
    case drain
    /// Shut the sending side, and read on until the peer closes or the bounds are met.
    case linger
    case close
  }

  /// What to do when the peer will send no more.
  package enum EndOfInputStep: Sendable, Equatable {
    /// The answer that is due still goes out.
    case finishAnswer
    /// Content is missing that will never come. Whoever reads it is told so, and as the peer may
    /// only have shut its sending side, the answer that is due still goes out.
    case endContent
    case close
  }

  /// What the answer says about the connection (RFC 9112 9.3, 9.6).
  package enum ConnectionField: Sendable, Equatable {
    /// Nothing to say: it goes on, and the client expects that.
    case none
    case close
    /// It goes on, and an HTTP/1.0 client has to be told.
    case keepAlive
  }

  /// The `Connection` field of the answer that is due.
  package var connectionField: ConnectionField {
    if !mayPersist { return .close }
    return parser.head.minorVersion >= 1 ? .none : .keepAlive
  }

  /// Whether `100 Continue` is due, now that somebody wants the content. True once at most.
  package mutating func takeContinue() -> Bool {
    guard phase == .serving, owesContinue, answer == .open else { return false }
    owesContinue = false
    return true
  }

  /// An answer has been made.
  ///
  /// - Parameter isStreamed: whether making its body may read the request's content.
  package mutating func answerIsReady(isStreamed: Bool) -> ResponseStep {
    guard phase == .serving else { return .discard }
    if !isRequestComplete, !isStreamed {
      if isWorthDraining {
        dropsContent = true
        answer = .waitingForDrain
        return .waitForBody
      }
      mayPersist = false
    } else if owesContinue, !isStreamed {
      mayPersist = false
    }
    answer = .underWay
    return .send
  }

  /// The answer's last byte has been handed over, or the content behind it has been drained.
  package mutating func answerEnded() -> NextStep {
    if phase == .closed { return .close }
    answer = .done
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

  /// The time for draining is over. What was waiting for it can go on, and closes the connection.
  package mutating func giveUpDraining() {
    mayPersist = false
    isRequestComplete = true
  }

  /// The connection ends with the answer that is due, or with the next one.
  package mutating func stopPersisting() {
    mayPersist = false
  }

  /// The peer has shut its sending side. That it is gone altogether looks the same until something
  /// is written.
  package mutating func endOfInput() -> EndOfInputStep {
    mayPersist = false
    switch phase {
    case .awaitingHead, .lingering, .closed:
      phase = .closed
      return .close
    case .refusing:
      return .finishAnswer
    case .serving:
      if isRequestComplete { return .finishAnswer }
      isRequestComplete = true
      return .endContent
    }
  }

  /// The head, or content, has not come in time.
  package mutating func timedOut() -> ServerConnectionEvent {
    switch phase {
    case .awaitingHead where parser.isInsideHead,
      .serving where !isRequestComplete && answer == .open:
      return refuse(.timedOut)
    case .awaitingHead, .serving, .refusing, .lingering, .closed:
      phase = .closed
      return .close
    }
  }

  /// Whether reading the rest of an unwanted body beats closing the connection.
  private var isWorthDraining: Bool {
    guard mayPersist || answer == .open, !owesContinue else { return false }
    guard let remaining = body?.remainingLength else { return true }
    return remaining <= limits.drainBytesMax
  }
}
