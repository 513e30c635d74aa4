/// The values of a filter's parameters, as texts.
package struct FilterArguments: Hashable, Sendable {
  /// Of each `?` in turn.
  package var positional: [String]
  /// Of each `:name`.
  package var named: [String: String]

  package init(positional: [String] = [], named: [String: String] = [:]) {
    self.positional = positional
    self.named = named
  }

  package static let none = FilterArguments()

  /// Of all values.
  var byteCount: Int {
    positional.reduce(0) { $0 + $1.utf8.count } + named.values.reduce(0) { $0 + $1.utf8.count }
  }
}
