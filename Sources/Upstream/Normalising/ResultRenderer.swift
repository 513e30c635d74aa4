package import Model

/// The client's body from the store, in the operation's own shape and order.
package enum ResultRenderer {
  /// - Parameter onError: what becomes of positions that upstream answered with an error. A result
  ///   with errors is not rendered under ``CachePolicy/ErrorPolicy/fail``: the caller fails it.
  package static func render(
    _ result: ResultSnapshot, selection: Model.Selection, onError: CachePolicy.ErrorPolicy
  ) -> RenderedResult {
    preconditionFailure("being written")
  }
}
