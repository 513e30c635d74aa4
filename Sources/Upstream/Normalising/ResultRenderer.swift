import LosslessJSON
package import Model

/// The client's body from the store, in the operation's own shape and order.
package enum ResultRenderer {
  /// - Parameter onError: what becomes of positions that upstream answered with an error. A result
  ///   with errors is not rendered under ``CachePolicy/ErrorPolicy/fail``: the caller fails it.
  package static func render(
    _ result: ResultSnapshot, selection: Model.Selection, onError: CachePolicy.ErrorPolicy
  ) -> RenderedResult {
    let errors = result.errors.flatMap { try? JSONDocument($0) }
    var paths: ErrorPath?
    if case .paths(let read) = ErrorPath.read(errors?.root) { paths = read }
    let found = ResultWalker.walk(
      result, selection: selection, errors: paths, fills: onError == .fill)

    var writer = JSONWriter()
    writer.reserve(found.output.count + (result.errors?.count ?? 0) + 32)
    writer.beginObject()
    writer.name("data")
    writer.raw(found.output)
    if let errors {
      writer.name("errors")
      writer.value(errors.root)
    }
    if !found.stale.isEmpty {
      writer.name("stale")
      writer.beginArray()
      for path in found.stale { path.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
    return RenderedResult(
      body: writer.bytes, misses: found.misses, stalePositions: found.stale.count)
  }
}
