import LosslessJSON
import Model

@testable import Upstream

/// Texts of the store as a damaged disk could return them: rendering terminates, within their bounds.
enum StoredTextTarget {
  /// Runs one input: the first byte selects the operation; texts are separated by the byte 0xFF, which none
  /// contains.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first else { return }
    let operation = FuzzedOperations.all[Int(dial) % FuzzedOperations.all.count]
    let texts = Array(input.dropFirst())
      .split(separator: 0xFF, maxSplits: 6, omittingEmptySubsequences: false).map { Array($0) }
    var records: [EntityKey: EntityRecord] = [:]
    for (place, text) in texts.dropFirst().enumerated() {
      let type = place % 2 == 0 ? "Film" : "Person"
      let key = EntityKey(type: type, key: "\(place / 2 + 1)")
      records[key] = EntityRecord(layers: [text], isDeleted: text.isEmpty)
    }
    let result = ResultSnapshot(
      key: ResultKey(operation: operation.name, variables: "{}", scope: .public),
      call: CallNumber(1), received: Timestamp(milliseconds: 0), root: texts[0],
      errors: texts.last, isDue: false, entities: records, revision: .zero)
    for policy in [CachePolicy.ErrorPolicy.fill, .partial] {
      for showsPending in [false, true] {
        let rendered = ResultRenderer.render(
          result, selection: operation.selection(for: .none), onError: policy,
          showsPending: showsPending)
        Finding.require(rendered.body.first == UInt8(ascii: "{"), "no object")
      }
    }
  }
}
