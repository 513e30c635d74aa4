package import Model

/// What is stored with a mutation and no decision reads: what to send, in whose name, and what it
/// is expected to do.
package struct MutationPayload: Sendable {
  /// The JSON object of variables as the client gave it, temporary ids and all.
  package let variables: String
  /// Where its answer is kept: the user's scope, or the public one with the headers it was sent
  /// with.
  package let scope: Scope
  /// The verified user in whose name it goes; nil for an opaque credential or none.
  package let user: String?
  /// The headers that are forwarded with it and are no secrets, as a JSON object.
  package let partitions: String
  /// The user's own headers, sealed; nil where it goes without. Gone once the mutation is finished.
  package let sealedCredential: String?
  package let overlays: [OverlayChange]

  package init(
    variables: String, scope: Scope, user: String?, partitions: String, sealedCredential: String?,
    overlays: [OverlayChange]
  ) {
    self.variables = variables
    self.scope = scope
    self.user = user
    self.partitions = partitions
    self.sealedCredential = sealedCredential
    self.overlays = overlays
  }

  /// The same with other expectations.
  func expecting(_ overlays: [OverlayChange]) -> MutationPayload {
    MutationPayload(
      variables: variables, scope: scope, user: user, partitions: partitions,
      sealedCredential: sealedCredential, overlays: overlays)
  }
}
