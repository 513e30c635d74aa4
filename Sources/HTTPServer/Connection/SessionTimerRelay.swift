import Transport

/// What a session's timer refers to in the session's stead.
///
/// A timer's reference is weak, and an object that has ever had one counts its references in a side
/// table from then on: each retain and release goes there, and a session sees dozens in a request.
final class SessionTimerRelay: TimerDelegate {
  /// The session owns its relay, and the timer sees nil once the relay is gone.
  private unowned let session: ServerSession

  init(session: ServerSession) {
    self.session = session
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    session.timerFired(timer, on: reactor)
  }
}
