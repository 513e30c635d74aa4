/// What goes with one execution beside operation and variables.
package struct UpstreamCall: Sendable {
  /// The caller's headers to pass on, already reduced to the configured names.
  package var forwarded: [UpstreamSettings.Header]
  /// Some forwarded header is a credential, so the service's own are left out.
  package var carriesUserCredential: Bool
  /// W3C trace context of the request being served.
  package var traceparent: String?
  /// A mutation's own random key, the same for every attempt.
  package var idempotencyKey: String?
  /// How long the call may take in all; the upstream's timeout if nil.
  package var timeout: Duration?

  package init(
    forwarded: [UpstreamSettings.Header] = [], carriesUserCredential: Bool = false,
    traceparent: String? = nil, idempotencyKey: String? = nil, timeout: Duration? = nil
  ) {
    self.forwarded = forwarded
    self.carriesUserCredential = carriesUserCredential
    self.traceparent = traceparent
    self.idempotencyKey = idempotencyKey
    self.timeout = timeout
  }
}
