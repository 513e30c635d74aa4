/// What can be changed while a demo server runs, in the process or by `POST /__demo`.
package struct DemoSwitches: Sendable, Hashable {
  /// Waited before each GraphQL answer.
  package var latency: Duration = .zero
  /// Up to this much more, drawn anew for each answer.
  package var jitter: Duration = .zero
  package var fail = FailMode.off
  /// Fails the nth, the 2nth, … of the requests the mode applies to, counted since it was set.
  package var every = 1
  /// Turns the mode off after so many failures; nil for never.
  package var times: Int?
  /// The operations that latency and failures apply to; empty for all.
  package var operations: Set<String> = []
  /// Whether a request that gets no good answer is carried out all the same: the way to a mutation
  /// that happened and was never confirmed. `half-body` always carries out.
  package var takesEffect = false
  /// What `partial` breaks, as `Type.field`.
  package var partialFields: Set<String> = ["Film.synopsis"]
  /// The body's length in `oversize`.
  package var oversizeBytes = 64 << 20
  /// How long `refuse` lasts when it was set over HTTP, where nobody could end it; nil for until
  /// the process ends it.
  package var refuseFor: Duration?

  package init() {}
}
