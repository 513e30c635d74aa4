import Files
import Model
import TestSupport
import Testing

extension ContractCase {
  static let listings = [
    ContractCase("lists by prefix and delimiter") { it in
      for key in ["a", "b/1", "b/2", "b/c/3", "c/", "d"] { try await it.put([1], at: key) }
      #expect(try await it.keys(ObjectListRequest()) == ["a", "b/1", "b/2", "b/c/3", "c/", "d"])
      let top = try await it.store.list(it.bucket, ObjectListRequest(delimiter: "/"))
      #expect(top.items.map(\.key.text) == ["a", "d"])
      #expect(top.commonPrefixes == ["b/", "c/"])
      let inside = try await it.store.list(
        it.bucket, ObjectListRequest(prefix: "b/", delimiter: "/"))
      #expect(inside.items.map(\.key.text) == ["b/1", "b/2"])
      #expect(inside.commonPrefixes == ["b/c/"])
      #expect(try await it.keys(ObjectListRequest(after: "b/2")) == ["b/c/3", "c/", "d"])
    },
    ContractCase("lists page by page while keys change") { it in
      for number in 10..<30 { try await it.put([1], at: "k\(number)") }
      var request = ObjectListRequest(limit: 7)
      var told: [String] = []
      var removed = 10
      while true {
        let page = try await it.store.list(it.bucket, request)
        told += page.items.map(\.key.text)
        guard let next = page.next else { break }
        request.token = next
        // Before the place where the listing is, and the very key it ended with.
        try await it.put([1], at: "k0\(removed)")
        _ = try await it.store.delete(try it.address(told.last ?? ""), if: .none)
        removed += 1
      }
      #expect(told == (10..<30).map { "k\($0)" })
    },
    ContractCase("returns the same pages as one walk, by seed") { it in
      for seed in UInt64(1)...3 { try await listsLikeModel(it, seed: seed) }
    },
  ]

  /// Random keys, prefixes, delimiters and limits against a list that is filtered in memory.
  private static func listsLikeModel(_ it: ContractStore, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let letters = ["a", "b", "/", "é", "\u{FF5E}", "😀", "-"]
    func text(_ lengths: ClosedRange<Int>) -> String {
      (0..<Int.random(in: lengths, using: &random)).map { _ in
        letters.randomElement(using: &random) ?? "a"
      }.joined()
    }
    let scope = "s\(seed)/"
    var keys: Set<ObjectKey> = []
    for _ in 0..<60 {
      guard let key = ObjectKey(scope + text(1...6)), keys.insert(key).inserted else { continue }
      try await it.put([1], at: key.text)
    }
    for _ in 0..<25 {
      let prefix = scope + text(0...2)
      let delimiter = ["/", "a", "é", "/a", nil].randomElement(using: &random) ?? nil
      let request = ObjectListRequest(
        prefix: prefix, delimiter: delimiter, limit: Int.random(in: 1...9, using: &random))
      let wanted = ListingModel.list(keys.sorted(), prefix: prefix, delimiter: delimiter)
      let told = try await it.pages(request)
      #expect(
        told.map { Array($0.utf8) }.sorted(by: { $0.lexicographicallyPrecedes($1) })
          == wanted.map { Array($0.utf8) }.sorted(by: { $0.lexicographicallyPrecedes($1) }),
        "seed \(seed), \(request)")
    }
  }
}

/// The expected result of a whole listing, computed directly.
enum ListingModel {
  /// Keys, and common prefixes with a star, each once.
  static func list(_ keys: [ObjectKey], prefix: String, delimiter: String?) -> [String] {
    var told: [[UInt8]] = []
    for key in keys where key.hasPrefix(prefix) {
      let bytes = Array(key.text.utf8)
      var entry = bytes
      if let delimiter = delimiter.map({ Array($0.utf8) }),
        let place = bytes[prefix.utf8.count...].firstRange(of: delimiter)
      {
        entry = Array(bytes[..<place.upperBound]) + Array("*".utf8)
      }
      if told.last != entry { told.append(entry) }
    }
    return told.map { String(decoding: $0, as: UTF8.self) }
  }
}
