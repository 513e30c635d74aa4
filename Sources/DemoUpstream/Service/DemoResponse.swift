/// A GraphQL answer before it has an HTTP status.
struct DemoResponse: Sendable {
  enum Outcome: Sendable, Hashable {
    /// There is `data`, perhaps null, perhaps with errors beside it.
    case executed
    /// The request did not run.
    case rejected(RequestRejection.Reason)
    /// The idempotency key was used for another request.
    case keyConflict
    /// A mutation by GET.
    case needsPost
  }

  let outcome: Outcome
  let bytes: [UInt8]
  var isReplay = false
}
