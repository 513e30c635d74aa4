import Transport

/// Replacement of the handler while connections stay open.
extension LoopServer {
  /// Joins the place of the handler over all loops.
  func join(_ place: HandlerPlace, on reactor: isolated Reactor) {
    // SAFETY: it is accessed only after its reactor has been entered.
    nonisolated(unsafe) let server = self
    place.join(
      HandlerPlace.Loop(
        hold: { await reactor.ask { _ in server.hold() } },
        cutOff: { await reactor.ask { _ in server.cutOffStarted() } },
        serve: { term in await reactor.ask { server.serve(term, on: $0) } }))
  }

  /// Lets requests that begin from now on wait. WebSockets are closed: each belongs to its handler.
  private func hold() {
    isHolding = true
    for reference in sessions where reference.session.webSocket != nil {
      reference.session.closeWebSocket(ServerSession.holdReason)
    }
  }

  private func cutOffStarted() {
    for reference in sessions {
      let session = reference.session
      if session.webSocket != nil || session.exchange?.isStarted == true { session.stream.reset() }
    }
  }

  private func serve(_ term: HandlerTerm, on reactor: isolated Reactor) {
    replace(by: term)
    isHolding = false
    // A session can leave the set, or begin its next request, while its request is started.
    for session in sessions.map(\.session) { session.startHandlerIfDue(on: reactor) }
  }
}
