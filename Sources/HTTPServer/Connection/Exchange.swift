import Transport

/// One request that a handler answers, as its connection sees it.
struct Exchange {
  let request: ServerRequest
  /// Carries the content; `nil` if there is none.
  let channel: BodyChannel?
  /// What the rate limit makes of it; `nil` without one.
  let rate: RateVerdict?
  /// Answered in the handler's place, since the request can be read and must not be served.
  let refusal: ServerProblem?
  var task: Task<Void, Never>?
  /// Made, and waiting for the unwanted body to go by.
  var waitingAnswer: PreparedResponse?
  /// Whether the handler has been started: content that is already there is taken first.
  var isStarted = false
  var status = 0
  /// The longest pause in which the client takes nothing; nil for the server's own.
  var writeStallMax: Duration?
  /// Bytes handed to the socket for this answer.
  var bytesWritten = 0
}
