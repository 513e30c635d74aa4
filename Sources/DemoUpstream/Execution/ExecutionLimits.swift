/// Bounds on one request, so that no query can hold the server.
struct ExecutionLimits: Sendable, Hashable {
  /// Levels of fields. The usual introspection query has 14.
  var depthMax = 20
  /// Fields written into one answer; a page of 1,000 films with 40 fields and a cast fits.
  var fieldsMax = 250_000
}
