import LosslessJSON
package import Model

/// Renders response bodies from the store, in the operation's shape and order.
package enum ResultRenderer {
  /// - Parameters:
  ///   - onError: the policy for positions that upstream responded to with an error. A result with
  ///     errors is not rendered under ``CachePolicy/ErrorPolicy/fail``: the caller fails it.
  ///   - areErrorsPresent: whether the stored errors are those of the current response, and all are
  ///     shown. Otherwise they are from an earlier one, and those whose place has a last-good value
  ///     are omitted.
  ///   - showsPending: whether the result is one device's own view: entities with overlays have
  ///     `_pending`, and where an overlay leads to data that is not stored, null propagates as in
  ///     GraphQL, unless the value under the overlay can be shown.
  package static func render(
    _ result: ResultSnapshot, selection: FieldSelection, onError: CachePolicy.ErrorPolicy,
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

  /// The body during an upstream outage: the last response, with last-good values in place of
  /// failed ones.
  ///
  /// - Returns: nil if the store does not have everything that the operation selects, or nothing
  ///   but errors.
  package static func renderLastGood(
    _ result: ResultSnapshot, selection: FieldSelection
  ) -> RenderedResult? {
    let rendered = render(
      result, selection: selection, onError: .fill, areErrorsPresent: false)
    return rendered.isComplete && (result.errors == nil || rendered.hasValues) ? rendered : nil
  }

  private static func leads(_ error: JSONNode, to path: ResponsePath) -> Bool {
    guard case .paths(let tree) = ErrorPath.read(of: error) else { return true }
    return tree.leads(to: path)
  }

  /// Overlays are in the first, narrowest layer.
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

/// A response body rendered from the store.
package struct RenderedResult: Sendable {
  /// `{"data":…}`, compact UTF-8; unusable unless ``misses`` is empty.
  package let body: [UInt8]
  /// Response paths (`film.director.name`) that are not stored: the result does not cover the
  /// operation and must be fetched.
  package let misses: [String]
  /// The number of response positions with last-good values in place of failed ones.
  package let stalePositions: Int
  /// The number of response positions that an overlay leads to and that are not stored.
  package let pendingGaps: Int

  /// Whether the body contains a value, not only nulls explained by errors.
  package let hasValues: Bool

  package init(
    body: [UInt8], misses: [String], stalePositions: Int, pendingGaps: Int = 0,
    hasValues: Bool = true
  ) {
    self.body = body
    self.misses = misses
    self.stalePositions = stalePositions
    self.pendingGaps = pendingGaps
    self.hasValues = hasValues
  }

  package var isComplete: Bool { misses.isEmpty }
}
