/// What holds for a query that says nothing else in `@cache`, and the memory for rendered answers.
package struct CacheSettings: Sendable {
  package var maxAge = Duration.zero
  package var staleWhileRevalidate = Duration.zero
  package var staleIfError = Duration.seconds(86_400)
  package var memoryBytesMax = 64 << 20
  /// Of the database; what live results refer to stays even above it.
  package var diskBytesMax = 8 << 30
}
