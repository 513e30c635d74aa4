/// The effect of a route, by which it is refused to device tokens and operators that only read.
package enum RouteEffect: Hashable, Sendable {
  /// Reads, streams and diffs.
  case reads
  /// Refused to callers that only read, before the endpoint is called.
  case writes
  /// Reads, unless the request names a mutation, which ``DirectMutations`` and Gateway's
  /// `UnregisteredDocuments` refuse.
  case readsUnlessMutation
}
