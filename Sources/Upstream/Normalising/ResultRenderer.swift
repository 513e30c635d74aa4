import LosslessJSON
package import Model

/// The client's body from the store, in the operation's own shape and order.
package enum ResultRenderer {
  /// - Parameters:
  ///   - onError: what becomes of positions that upstream answered with an error. A result with
  ///     errors is not rendered under ``CachePolicy/ErrorPolicy/fail``: the caller fails it.
  ///   - areErrorsPresent: the stored errors are those of the response being made, and all are
  ///     shown. Otherwise they come from an earlier one: those whose place a last-good value fills
  ///     are left out.
  ///   - showsPending: the result is one device's own: entities under its overlays tell of them in
  ///     `_pending`, and where an overlay leads to what is not stored, null propagates as in
  ///     GraphQL, unless what lies under the overlay can be shown.
  package static func render(
    _ result: ResultSnapshot, selection: Model.Selection, onError: CachePolicy.ErrorPolicy,
    areErrorsPresent: Bool = true, showsPending: Bool = false
  ) -> RenderedResult {
    let errors = result.errors.flatMap { try? JSONDocument(checked: $0) }
    var paths: ErrorPath?
    if case .paths(let read) = ErrorPath.read(errors?.root) { paths = read }
    let found = ResultWalker.walk(
      result, selection: selection, errors: paths, fills: onError == .fill,
      pending: showsPending ? pending(in: result) : [:])

    var writer = JSONWriter()
    writer.reserve(found.output.count + (result.errors?.count ?? 0) + 32)
    writer.beginObject()
    writer.name("data")
    writer.raw(found.output)
    let shown = (errors.map { Array($0.root.elements) } ?? []).filter { error in
      areErrorsPresent || found.unfilled.contains { leads(error, to: $0) }
    }
    if !shown.isEmpty {
      writer.name("errors")
      writer.beginArray()
      for error in shown { writer.value(error) }
      writer.endArray()
    }
    if !found.stale.isEmpty {
      writer.name("stale")
      writer.beginArray()
      for path in found.stale { path.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
    return RenderedResult(
      body: writer.bytes, misses: found.misses, stalePositions: found.stale.count,
      pendingGaps: found.pendingGaps, hasValues: found.hasValues)
  }

  /// The body while upstream gives no response: what it gave before, last-good values in the place
  /// of what failed then.
  ///
  /// - Returns: nil where the store does not hold all that the operation selects, or nothing but
  ///   errors.
  package static func renderLastGood(
    _ result: ResultSnapshot, selection: Model.Selection
  ) -> RenderedResult? {
    let rendered = render(
      result, selection: selection, onError: .fill, areErrorsPresent: false)
    return rendered.isComplete && (result.errors == nil || rendered.hasValues) ? rendered : nil
  }

  private static func leads(_ error: JSONNode, to path: ResponsePath) -> Bool {
    guard case .paths(let tree) = ErrorPath.read(of: error) else { return true }
    return tree.leads(to: path)
  }

  /// An overlay is the narrowest layer there is.
  private static func pending(in result: ResultSnapshot) -> [EntityKey: [UInt8]] {
    result.entities.compactMapValues { record in
      guard let first = record.layers.first, let document = try? JSONDocument(checked: first),
        let mutations = document.root[StoredForm.pendingMember]
      else { return nil }
      var writer = JSONWriter()
      writer.value(mutations)
      return writer.bytes
    }
  }
}
