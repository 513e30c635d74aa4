/// What headers that are passed upstream mean for who may see the answer.
package enum ForwardedHeaders {
  /// Those that say who asks: an answer got with one is that user's. Every other forwarded header
  /// only splits the cache. In lower case.
  package static let credentials: Set<String> = ["authorization", "cookie"]
}
