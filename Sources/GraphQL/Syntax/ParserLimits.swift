/// Bounds on what the parser takes, so that no text can exhaust the stack or the memory.
package struct ParserLimits: Hashable, Sendable {
  /// Open brackets of any kind at one time. The parser and every later walk over the tree recurse
  /// once a level; hand-written documents stay below 30.
  package var depthMax: Int
  /// Tokens of one document. A schema of 64 MiB without descriptions has about 12 million.
  package var tokensMax: Int
  /// Faults reported of one document before the parser gives up on it.
  package var faultsMax: Int

  package init(depthMax: Int = 200, tokensMax: Int = 16_000_000, faultsMax: Int = 50) {
    self.depthMax = depthMax
    self.tokensMax = tokensMax
    self.faultsMax = faultsMax
  }
}
